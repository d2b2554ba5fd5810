package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

var errUnknown = errors.New("unknown or expired")

// storage keeps everything of one generation: when the settings name a later one, all sessions and grants are gone.
type storage struct {
	mutex      sync.Mutex
	client     client
	generation int
	requests   map[string]*request
	codes      map[string]string
	sessions   map[string]string
	refreshes  map[string]*grant
	keys       []*key
}

func newStorage(of client) *storage {
	made := &storage{client: of}
	made.forget()
	return made
}

func (s *storage) forget() {
	s.requests, s.codes = map[string]*request{}, map[string]string{}
	s.sessions, s.refreshes = map[string]string{}, map[string]*grant{}
}

// enter locks the storage and drops what an earlier generation left.
func (s *storage) enter(ctx context.Context) settings {
	s.mutex.Lock()
	given := settingsOf(ctx)
	if given.Generation > s.generation {
		s.generation = given.Generation
		s.forget()
	}
	return given
}

func (s *storage) person(session string) (string, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	name, known := s.sessions[session]
	return name, known
}

func (s *storage) signIn(name string) string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	session := rand.Text()
	s.sessions[session] = name
	return session
}

func (s *storage) signOut(session string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.sessions, session)
}

func (s *storage) finish(id, name string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if asked, known := s.requests[id]; known {
		asked.subject, asked.at = name, time.Now()
	}
}

func (s *storage) CreateAuthRequest(ctx context.Context, asked *oidc.AuthRequest, _ string) (op.AuthRequest, error) {
	given := s.enter(ctx)
	defer s.mutex.Unlock()
	if _, known := s.sessions[given.session]; !known && len(asked.Prompt) == 1 && asked.Prompt[0] == oidc.PromptNone {
		return nil, oidc.ErrLoginRequired()
	}
	made := &request{AuthRequest: asked, id: rand.Text(), audience: given.Audience}
	if given.Refresh {
		made.extra = []string{oidc.ScopeOfflineAccess}
	}
	s.requests[made.id] = made
	return made, nil
}

func (s *storage) AuthRequestByID(ctx context.Context, id string) (op.AuthRequest, error) {
	s.enter(ctx)
	defer s.mutex.Unlock()
	if found, known := s.requests[id]; known {
		return found, nil
	}
	return nil, errUnknown
}

func (s *storage) AuthRequestByCode(ctx context.Context, code string) (op.AuthRequest, error) {
	s.enter(ctx)
	id := s.codes[code]
	s.mutex.Unlock()
	return s.AuthRequestByID(ctx, id)
}

func (s *storage) SaveAuthCode(ctx context.Context, id, code string) error {
	s.enter(ctx)
	defer s.mutex.Unlock()
	s.codes[code] = id
	return nil
}

func (s *storage) DeleteAuthRequest(ctx context.Context, id string) error {
	s.enter(ctx)
	defer s.mutex.Unlock()
	delete(s.requests, id)
	return nil
}

func expiry(given settings) time.Time {
	return time.Now().Add(time.Duration(given.Lifetime) * time.Second)
}

func (s *storage) CreateAccessToken(ctx context.Context, _ op.TokenRequest) (string, time.Time, error) {
	return rand.Text(), expiry(settingsOf(ctx)), nil
}

func (s *storage) CreateAccessAndRefreshTokens(ctx context.Context, of op.TokenRequest, current string) (string, string, time.Time, error) {
	given := s.enter(ctx)
	defer s.mutex.Unlock()
	if _, known := s.refreshes[current]; current != "" && !known {
		return "", "", time.Time{}, op.ErrInvalidRefreshToken
	}
	delete(s.refreshes, current)
	refresh := rand.Text()
	made := &grant{subject: of.GetSubject(), audience: of.GetAudience(), scopes: of.GetScopes(), client: s.client.id}
	// Renewed tokens tell when the person signed in, not when they were renewed: clients compare it.
	if signedIn, known := of.(interface{ GetAuthTime() time.Time }); known {
		made.at = signedIn.GetAuthTime()
	}
	s.refreshes[refresh] = made
	return rand.Text(), refresh, expiry(given), nil
}

func (s *storage) TokenRequestByRefreshToken(ctx context.Context, token string) (op.RefreshTokenRequest, error) {
	s.enter(ctx)
	defer s.mutex.Unlock()
	if found, known := s.refreshes[token]; known {
		return found, nil
	}
	return nil, op.ErrInvalidRefreshToken
}

func (s *storage) TerminateSession(context.Context, string, string) error { return nil }

// TerminateSessionFromRequest leads to a page where people confirm that they meant it.
func (s *storage) TerminateSessionFromRequest(_ context.Context, asked *op.EndSessionRequest) (string, error) {
	return "/confirm?to=" + url.QueryEscape(asked.RedirectURI), nil
}

func (s *storage) RevokeToken(ctx context.Context, token, _, _ string) *oidc.Error {
	s.enter(ctx)
	defer s.mutex.Unlock()
	delete(s.refreshes, token)
	return nil
}

func (s *storage) GetRefreshTokenInfo(ctx context.Context, _, token string) (string, string, error) {
	s.enter(ctx)
	defer s.mutex.Unlock()
	if found, known := s.refreshes[token]; known {
		return found.subject, token, nil
	}
	return "", "", op.ErrInvalidRefreshToken
}

// keysFor makes what is missing, up to the key that signs.
func (s *storage) keysFor(ctx context.Context) ([]*key, settings, error) {
	given := s.enter(ctx)
	defer s.mutex.Unlock()
	for len(s.keys) <= given.Rotations {
		made, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			return nil, given, err
		}
		s.keys = append(s.keys, &key{id: fmt.Sprintf("key-%d", len(s.keys)), private: made})
	}
	return s.keys, given, nil
}

func (s *storage) SigningKey(ctx context.Context) (op.SigningKey, error) {
	keys, given, err := s.keysFor(ctx)
	if err != nil {
		return nil, err
	}
	return signingKey{keys[given.Rotations]}, nil
}

func (s *storage) SignatureAlgorithms(context.Context) ([]jose.SignatureAlgorithm, error) {
	return []jose.SignatureAlgorithm{jose.RS256}, nil
}

func (s *storage) KeySet(ctx context.Context) ([]op.Key, error) {
	keys, given, err := s.keysFor(ctx)
	if err != nil {
		return nil, err
	}
	var public []op.Key
	for _, one := range keys[given.Retired : given.Rotations+1] {
		public = append(public, publicKey{one})
	}
	return public, nil
}

func (s *storage) GetClientByClientID(_ context.Context, id string) (op.Client, error) {
	if id != s.client.id {
		return nil, errUnknown
	}
	return s.client, nil
}

func (s *storage) AuthorizeClientIDSecret(context.Context, string, string) error { return errUnknown }

func describe(to *oidc.UserInfo, name string) {
	to.Subject, to.Name, to.Email, to.EmailVerified = name, name, name+"@example.org", oidc.Bool(true)
}

func (s *storage) SetUserinfoFromScopes(_ context.Context, to *oidc.UserInfo, name, _ string, _ []string) error {
	describe(to, name)
	return nil
}

func (s *storage) SetUserinfoFromToken(_ context.Context, to *oidc.UserInfo, _, subject, _ string) error {
	describe(to, subject)
	return nil
}

func (s *storage) SetIntrospectionFromToken(context.Context, *oidc.IntrospectionResponse, string, string, string) error {
	return errUnknown
}

func (s *storage) GetPrivateClaimsFromScopes(_ context.Context, name, _ string, _ []string) (map[string]any, error) {
	return map[string]any{"name": name, "email": name + "@example.org", "email_verified": true}, nil
}

func (s *storage) GetKeyByIDAndClientID(context.Context, string, string) (*jose.JSONWebKey, error) {
	return nil, errUnknown
}

func (s *storage) ValidateJWTProfileScopes(context.Context, string, []string) ([]string, error) {
	return nil, errUnknown
}

func (s *storage) Health(context.Context) error { return nil }
