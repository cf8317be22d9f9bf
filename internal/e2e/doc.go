// Package e2e holds the tests of the whole way: from job file to answers,
// through real servers and real processes.
package e2e
