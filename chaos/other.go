//go:build !unix

// Command chaos needs the signals of unix.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "chaos: it stops and continues processes, which only unix can")
	os.Exit(2)
}
