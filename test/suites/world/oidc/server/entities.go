package main

import (
	"crypto/rsa"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// request is a sign-in that was begun.
type request struct {
	*oidc.AuthRequest
	id       string
	audience string
	subject  string
	at       time.Time
	extra    []string
}

func (r *request) GetID() string          { return r.id }
func (r *request) GetACR() string         { return "" }
func (r *request) GetAMR() []string       { return nil }
func (r *request) GetAudience() []string  { return []string{r.audience, r.ClientID} }
func (r *request) GetAuthTime() time.Time { return r.at }
func (r *request) GetClientID() string    { return r.ClientID }
func (r *request) GetNonce() string       { return r.Nonce }
func (r *request) GetScopes() []string    { return append(append([]string{}, r.Scopes...), r.extra...) }
func (r *request) GetSubject() string     { return r.subject }
func (r *request) Done() bool             { return r.subject != "" }
func (r *request) GetCodeChallenge() *oidc.CodeChallenge {
	return &oidc.CodeChallenge{Challenge: r.CodeChallenge, Method: r.CodeChallengeMethod}
}

// grant is what a refresh token stands for.
type grant struct {
	subject  string
	audience []string
	scopes   []string
	client   string
	at       time.Time
}

func (g *grant) GetAMR() []string                 { return nil }
func (g *grant) GetAudience() []string            { return g.audience }
func (g *grant) GetAuthTime() time.Time           { return g.at }
func (g *grant) GetClientID() string              { return g.client }
func (g *grant) GetScopes() []string              { return g.scopes }
func (g *grant) GetSubject() string               { return g.subject }
func (g *grant) SetCurrentScopes(scopes []string) { g.scopes = scopes }

type key struct {
	id      string
	private *rsa.PrivateKey
}

type signingKey struct{ *key }

func (k signingKey) SignatureAlgorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (k signingKey) Key() any                                    { return k.private }
func (k signingKey) ID() string                                  { return k.id }

type publicKey struct{ *key }

func (k publicKey) ID() string                         { return k.id }
func (k publicKey) Algorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (k publicKey) Use() string                        { return "sig" }
func (k publicKey) Key() any                           { return &k.private.PublicKey }

// client is the console: public, in a browser, with PKCE.
type client struct{ id, origin string }

func (c client) GetID() string { return c.id }
func (c client) RedirectURIs() []string {
	return []string{c.origin + "/console/signed-in", c.origin + "/console/silent.html"}
}
func (c client) PostLogoutRedirectURIs() []string    { return []string{c.origin + "/console/"} }
func (c client) ApplicationType() op.ApplicationType { return op.ApplicationTypeUserAgent }
func (c client) AuthMethod() oidc.AuthMethod         { return oidc.AuthMethodNone }
func (c client) ResponseTypes() []oidc.ResponseType {
	return []oidc.ResponseType{oidc.ResponseTypeCode}
}
func (c client) GrantTypes() []oidc.GrantType {
	return []oidc.GrantType{oidc.GrantTypeCode, oidc.GrantTypeRefreshToken}
}
func (c client) LoginURL(id string) string            { return "/interaction?id=" + id }
func (c client) AccessTokenType() op.AccessTokenType  { return op.AccessTokenTypeJWT }
func (c client) IDTokenLifetime() time.Duration       { return 10 * time.Minute }
func (c client) DevMode() bool                        { return true }
func (c client) IsScopeAllowed(scope string) bool     { return scope == "use" }
func (c client) IDTokenUserinfoClaimsAssertion() bool { return true }
func (c client) ClockSkew() time.Duration             { return 0 }
func (c client) RestrictAdditionalIdTokenScopes() func([]string) []string {
	return func(scopes []string) []string { return scopes }
}
func (c client) RestrictAdditionalAccessTokenScopes() func([]string) []string {
	return func(scopes []string) []string { return scopes }
}
