// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// The parts of bbolt's file format (version 2) that verify reads. Numbers are
// in the machine's byte order.
//
//	page: id u64 | flags u16 | count u16 | overflow u32 | elements or meta
//	meta: magic u32 | version u32 | page size u32 | flags u32 | root page u64
//	      | sequence u64 | free list page u64 | pages u64 | txid u64 | FNV-1a u64
//	branch element: pos u32 | key size u32 | page u64
//	leaf element:   flags u32 | pos u32 | key size u32 | value size u32
//	pos counts from the element's own beginning.
//	bucket (a value): root page u64 | sequence u64 | the page itself, if root is 0
const (
	pageHeaderSize = 16
	elementSize    = 16
	metaSize       = 64
	bucketSize     = 16

	flagBranch = 0x01
	flagLeaf   = 0x02
	flagBucket = 0x01

	boltMagic   = 0xED0CDAED
	boltVersion = 2

	minPageSize = 1 << 10
	maxPageSize = 1 << 24
	// maxDepth of the tree is far above what a file of any size has.
	maxDepth = 64
)

// verify reads every page that the file's newest state uses and checks its
// structure. bbolt itself trusts a file: on a truncated or scribbled one it
// panics, some of it in goroutines where nobody can recover. An empty file is
// in order: it becomes a new store.
func verify(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return nil
	}
	meta, err := readMeta(file, info.Size())
	if err != nil {
		return err
	}
	if need := meta.pages * meta.pageSize; uint64(info.Size()) < need {
		return fmt.Errorf("%w: the file is cut off at %d of %d bytes", errDamaged, info.Size(), need)
	}
	v := verifier{file: file, meta: meta, seen: make([]bool, meta.pages)}
	return v.tree(meta.root, nil, nil, 0)
}

type boltMeta struct {
	pageSize, root, pages, txid uint64
}

// readMeta returns the newer valid one of the two meta pages.
func readMeta(file io.ReaderAt, size int64) (boltMeta, error) {
	first, ok := readMetaAt(file, 0)
	best, found := first, ok
	for pageSize := int64(minPageSize); pageSize <= maxPageSize && pageSize < size; pageSize *= 2 {
		second, ok := readMetaAt(file, pageSize)
		if ok && second.pageSize == uint64(pageSize) && (!found || second.txid > best.txid) {
			best, found = second, true
		}
	}
	if !found {
		return boltMeta{}, fmt.Errorf("%w: it is not a store, or its beginning is overwritten", errDamaged)
	}
	return best, nil
}

func readMetaAt(file io.ReaderAt, offset int64) (boltMeta, bool) {
	b := make([]byte, metaSize)
	if _, err := file.ReadAt(b, offset+pageHeaderSize); err != nil {
		return boltMeta{}, false
	}
	u32, u64 := binary.NativeEndian.Uint32, binary.NativeEndian.Uint64
	sum := fnv.New64a()
	sum.Write(b[:56])
	if u32(b) != boltMagic || u32(b[4:]) != boltVersion || u64(b[56:]) != sum.Sum64() {
		return boltMeta{}, false
	}
	meta := boltMeta{pageSize: uint64(u32(b[8:])), root: u64(b[16:]), pages: u64(b[40:]), txid: u64(b[48:])}
	sane := meta.pageSize >= minPageSize && meta.pageSize <= maxPageSize && meta.pages < 1<<40
	return meta, sane
}

type verifier struct {
	file *os.File
	meta boltMeta
	seen []bool
}

// tree checks the page and all below it. Its keys must lie in [low, high); nil
// is no bound.
func (v *verifier) tree(page uint64, low, high []byte, depth int) error {
	b, err := v.read(page)
	if err != nil {
		return err
	}
	if err := v.page(b, low, high, depth); err != nil {
		return fmt.Errorf("page %d: %w", page, err)
	}
	return nil
}

// read returns a page with its overflow and marks both as used.
func (v *verifier) read(page uint64) ([]byte, error) {
	var header [pageHeaderSize]byte
	if page < 2 || page >= v.meta.pages {
		return nil, fmt.Errorf("%w: page %d of %d", errDamaged, page, v.meta.pages)
	}
	if err := v.readAt(header[:], page); err != nil {
		return nil, err
	}
	end := page + uint64(binary.NativeEndian.Uint32(header[12:])) + 1
	if binary.NativeEndian.Uint64(header[:]) != page || end > v.meta.pages {
		return nil, fmt.Errorf("%w: page %d has another page's header", errDamaged, page)
	}
	for i := page; i < end; i++ {
		if v.seen[i] {
			return nil, fmt.Errorf("%w: page %d is used twice", errDamaged, i)
		}
		v.seen[i] = true
	}
	b := make([]byte, (end-page)*v.meta.pageSize)
	return b, v.readAt(b, page)
}

func (v *verifier) readAt(b []byte, page uint64) error {
	if _, err := v.file.ReadAt(b, int64(page*v.meta.pageSize)); err != nil {
		return fmt.Errorf("%w: page %d: %w", errDamaged, page, err)
	}
	return nil
}

// page checks the elements of a page, and what they lead to.
func (v *verifier) page(b []byte, low, high []byte, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: the tree is too deep", errDamaged)
	}
	elements, err := parsePage(b)
	if err != nil {
		return err
	}
	for i, e := range elements {
		// The first key of a page may equal its branch's key for that page.
		if bytes.Compare(e.key, low) < 0 || i > 0 && bytes.Equal(e.key, low) || high != nil && bytes.Compare(e.key, high) >= 0 {
			return fmt.Errorf("%w: keys out of order", errDamaged)
		}
		low = e.key
		next := high
		if i+1 < len(elements) {
			next = elements[i+1].key
		}
		if err := v.element(e, next, depth); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) element(e element, next []byte, depth int) error {
	switch {
	case e.branch:
		return v.tree(e.child, e.key, next, depth+1)
	case !e.bucket:
		return nil
	case len(e.value) < bucketSize:
		return fmt.Errorf("%w: short bucket", errDamaged)
	}
	if root := binary.NativeEndian.Uint64(e.value); root != 0 {
		return v.tree(root, nil, nil, depth+1)
	}
	return v.page(e.value[bucketSize:], nil, nil, depth+1)
}

// element is one element of a branch or leaf page.
type element struct {
	key    []byte
	branch bool
	child  uint64 // of a branch
	bucket bool
	value  []byte // of a leaf
}

var errElement = fmt.Errorf("%w: element outside of its page", errDamaged)

func parsePage(b []byte) ([]element, error) {
	if len(b) < pageHeaderSize {
		return nil, errElement
	}
	flags, count := binary.NativeEndian.Uint16(b[8:]), int(binary.NativeEndian.Uint16(b[10:]))
	if pageHeaderSize+count*elementSize > len(b) {
		return nil, errElement
	}
	var parse func([]byte) (element, error)
	switch {
	case flags == flagBranch && count > 0:
		parse = parseBranch
	case flags == flagLeaf:
		parse = parseLeaf
	default:
		return nil, fmt.Errorf("%w: neither branch nor leaf", errDamaged)
	}
	elements := make([]element, count)
	for i := range elements {
		var err error
		if elements[i], err = parse(b[pageHeaderSize+i*elementSize:]); err != nil {
			return nil, err
		}
	}
	return elements, nil
}

func parseBranch(b []byte) (element, error) {
	u32 := binary.NativeEndian.Uint32
	key, err := cut(b, u32(b), u32(b[4:]))
	return element{branch: true, key: key, child: binary.NativeEndian.Uint64(b[8:])}, err
}

func parseLeaf(b []byte) (element, error) {
	u32 := binary.NativeEndian.Uint32
	pos, keySize := u32(b[4:]), u32(b[8:])
	key, err := cut(b, pos, keySize)
	if err != nil {
		return element{}, err
	}
	value, err := cut(b[uint64(pos)+uint64(keySize):], 0, u32(b[12:]))
	return element{key: key, value: value, bucket: u32(b)&flagBucket != 0}, err
}

func cut(b []byte, pos, size uint32) ([]byte, error) {
	if uint64(pos)+uint64(size) > uint64(len(b)) {
		return nil, errElement
	}
	return b[pos : uint64(pos)+uint64(size)], nil
}
