// An OpenID provider in memory for tests. People sign in by their name alone. How it behaves is told with every request
// in the header Test-Settings, which the proxy in front of it writes.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"html/template"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

const cookie = "issuer-session"

type settings struct {
	Name       string `json:"name"`
	Agrees     bool   `json:"agrees"`
	Lifetime   int    `json:"lifetime"`
	Refresh    bool   `json:"refresh"`
	Audience   string `json:"audience"`
	Generation int    `json:"generation"`
	// How many keys came before the one that signs, and how many of these are published no more.
	Rotations int `json:"rotations"`
	Retired   int `json:"retired"`
	// The browser's session, read from its cookie.
	session string
}

type settingsKey struct{}

func settingsOf(ctx context.Context) settings {
	given, _ := ctx.Value(settingsKey{}).(settings)
	return given
}

func withSettings(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var given settings
		if err := json.Unmarshal([]byte(r.Header.Get("Test-Settings")), &given); err != nil {
			http.Error(w, "Test-Settings: "+err.Error(), http.StatusBadRequest)
			return
		}
		if kept, err := r.Cookie(cookie); err == nil {
			given.session = kept.Value
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), settingsKey{}, given)))
	})
}

var confirmation = template.Must(template.New("").Parse(
	`<!doctype html><title>Sign out</title><form method="post" action="/signed-out"><input type="hidden" name="to" value="{{.}}"><button>Yes</button></form>`))

func main() {
	issuer, origin, clientID := os.Getenv("ISSUER"), os.Getenv("ORIGIN"), os.Getenv("CLIENT_ID")
	store := newStorage(client{id: clientID, origin: origin})
	provider, err := op.NewProvider(
		&op.Config{CryptoKey: sha256.Sum256([]byte(issuer)), CodeMethodS256: true, GrantTypeRefreshToken: true},
		store,
		op.StaticIssuer(issuer),
		op.WithAllowInsecure(),
		op.WithCustomAuthEndpoint(op.NewEndpoint("auth")),
		op.WithCustomTokenEndpoint(op.NewEndpoint("token")),
	)
	if err != nil {
		log.Fatal(err)
	}
	callback := op.AuthCallbackURL(provider)
	intercept := op.NewIssuerInterceptor(provider.IssuerFromRequest)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /interaction", intercept.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := settingsOf(r.Context())
		id := r.URL.Query().Get("id")
		asked, err := store.AuthRequestByID(r.Context(), id)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		name, known := store.person(given.session)
		if !known {
			if !given.Agrees {
				refusal := oidc.ErrAccessDenied().WithDescription("Not today, <b>sorry</b>.")
				op.AuthRequestError(w, r, asked, refusal, provider)
				return
			}
			name = given.Name
			http.SetCookie(w, &http.Cookie{Name: cookie, Value: store.signIn(name), Path: "/", HttpOnly: true})
		}
		store.finish(id, name)
		http.Redirect(w, r, callback(r.Context(), id), http.StatusFound)
	}))
	mux.HandleFunc("GET /confirm", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = confirmation.Execute(w, r.URL.Query().Get("to"))
	})
	mux.HandleFunc("POST /signed-out", func(w http.ResponseWriter, r *http.Request) {
		to, err := url.Parse(r.PostFormValue("to"))
		if err != nil || to.Scheme+"://"+to.Host != origin {
			http.Error(w, "not an address of the client", http.StatusBadRequest)
			return
		}
		store.signOut(settingsOf(r.Context()).session)
		http.Redirect(w, r, to.String(), http.StatusSeeOther)
	})
	mux.Handle("/", provider)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"address": listener.Addr().String()})
	server := http.Server{Handler: withSettings(mux), ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.Serve(listener))
}
