// Package termtest makes terminals for tests.
package termtest
