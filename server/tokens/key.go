// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/berth-run/berth/internal/atomicfile"
)

const pemType = "EC PRIVATE KEY"

// loadKey returns the key in the file, and makes it at the first start.
func loadKey(path string) (*ecdsa.PrivateKey, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeKey(path)
	}
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(content)
	if block == nil || block.Type != pemType {
		return nil, fmt.Errorf("%s: holds no %s", path, pemType)
	}
	key, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if key.Curve != elliptic.P256() {
		return nil, fmt.Errorf("%s: its curve is %s, not P-256", path, key.Curve.Params().Name)
	}
	return key, nil
}

func makeKey(path string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	// Whole or not at all: tokens are worth nothing any more once their key is lost.
	return key, atomicfile.Write(path, pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der}), 0o600)
}
