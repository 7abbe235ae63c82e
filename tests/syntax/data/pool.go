// Package pool runs jobs on a fixed number of workers.
package pool

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// ErrClosed is returned after Close.
var ErrClosed = errors.New("pool: closed")

const queue = 1 << 4

type Number interface {
	~int | ~float64
}

type Job[T any] func(ctx context.Context) (T, error)

type Pool[T any] struct {
	mu   sync.Mutex
	jobs chan Job[T]
	done map[string]*T
	sum  [4]uint8
}

func New[T any](workers int) *Pool[T] {
	p := &Pool[T]{jobs: make(chan Job[T], queue), done: map[string]*T{}}
	for i := 0; i < workers; i++ {
		go p.work(i)
	}
	return p
}

func (p *Pool[T]) work(id int) {
	defer fmt.Printf("worker %d stops\n", id)
outer:
	for {
		select {
		case job, ok := <-p.jobs:
			if !ok {
				break outer
			}
			value, err := job(context.Background())
			switch {
			case errors.Is(err, ErrClosed):
				fallthrough
			case err != nil:
				continue
			default:
				p.mu.Lock()
				p.done[`key`+string(rune('a'+id))] = &value
				p.mu.Unlock()
			}
		}
	}
}

func Sum[N Number](xs ...N) (total N) {
	for _, x := range xs {
		total += x
	}
	return
}

func describe(v interface{}) string {
	switch t := v.(type) {
	case nil:
		return "nothing"
	case []int:
		return fmt.Sprint(len(t[1:]), Sum(t...))
	}
	return v.(fmt.Stringer).String()
}
