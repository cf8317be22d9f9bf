package queue

import (
	"hash/crc32"
	"slices"
	"strconv"

	"antipode/internal/job"
)

// assembly is the messages of one result, in their places, while some are missing.
type assembly []part

// add takes a message, and returns the result once it is whole. Messages of another
// answer to the same chunk start it anew; so does what does not add up, such as parts of
// one answer that were cut at different sizes.
func (a *assembly) add(p part) (whole job.Result, ok bool) {
	if p.parts == 1 {
		return p.result, true
	}
	if len(*a) != p.parts || (*a)[0].sum != p.sum { // the first, or of another answer
		*a = make(assembly, p.parts)
		for i := range *a {
			(*a)[i].sum = p.sum
		}
	}
	(*a)[p.n-1] = p
	if slices.ContainsFunc(*a, func(q part) bool { return q.parts == 0 }) {
		return whole, false
	}
	whole = p.result
	whole.Payload = nil
	for _, q := range *a {
		whole.Payload = append(whole.Payload, q.result.Payload...)
	}
	if checksum(whole.Payload) != p.sum {
		*a = nil
		return whole, false
	}
	return whole, true
}

// checksum is what the headers Sum and Chunk-Sum hold of a payload.
func checksum(payload []byte) string {
	return strconv.FormatUint(uint64(crc32.ChecksumIEEE(payload)), 16)
}
