// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"fmt"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// Signer makes tokens out of claims.
type Signer struct {
	public jose.JSONWebKey
	signer jose.Signer
}

// LoadSigner returns the signer whose key the file holds. The key is made when
// there is none.
func LoadSigner(keyFile string) (*Signer, error) {
	key, err := loadKey(keyFile)
	if err != nil {
		return nil, fmt.Errorf("key of the tokens of ServiceAccounts: %w", err)
	}
	id, err := keyID(key)
	if err != nil {
		return nil, err
	}
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: id}}, nil)
	if err != nil {
		return nil, err
	}
	public := jose.JSONWebKey{Key: key.Public(), KeyID: id, Algorithm: string(jose.ES256), Use: "sig"}
	return &Signer{public: public, signer: signer}, nil
}

// PublicKeys are those by which others can tell that a token is the server's.
func (s *Signer) PublicKeys() jose.JSONWebKeySet {
	return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{s.public}}
}

// keyID follows from the key, so that it is the same after a restart: as Kubernetes
// makes it.
func keyID(key *ecdsa.PrivateKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(der)
	return base64.RawURLEncoding.EncodeToString(sum[:]), nil
}

func (s *Signer) sign(c claims) (string, error) {
	return jwt.Signed(s.signer).Claims(c).Serialize()
}
