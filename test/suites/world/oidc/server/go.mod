module issuer

go 1.26.0

require (
	github.com/go-jose/go-jose/v4 v4.1.6
	github.com/zitadel/oidc/v3 v3.51.17
)
