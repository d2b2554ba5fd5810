import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Tools } from '../part.ts'
import { buildGo } from '../tools/go.ts'

/** Of the line of the API server of the part `kubernetes`. */
export const CLIENT_GO = '0.33.13'

const GO_MOD = `module kubeconfig

go 1.24.0

require k8s.io/client-go v${CLIENT_GO}
`

/** Finds the cluster as the engine's provider does, and tells what its client would send. */
const MAIN = `package main

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

type recorder struct{ authorization string }

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	r.authorization = request.Header.Get("Authorization")
	return &http.Response{StatusCode: 200, Body: http.NoBody, Request: request}, nil
}

func main() {
	told, err := read()
	if err != nil {
		told = map[string]any{"error": err.Error()}
	}
	json.NewEncoder(os.Stdout).Encode(told)
}

func read() (map[string]any, error) {
	rules := &clientcmd.ClientConfigLoadingRules{}
	if path := os.Getenv("KUBE_CONFIG_PATH"); path != "" {
		rules.ExplicitPath = path
	} else {
		rules.Precedence = filepath.SplitList(os.Getenv("KUBE_CONFIG_PATHS"))
	}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: os.Getenv("KUBE_CTX")}
	overrides.Context.AuthInfo = os.Getenv("KUBE_CTX_AUTH_INFO")
	overrides.Context.Cluster = os.Getenv("KUBE_CTX_CLUSTER")
	overrides.AuthInfo.Token = os.Getenv("KUBE_TOKEN")
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, err
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, err
	}
	authority := string(config.CAData)
	if config.CAFile != "" {
		text, err := os.ReadFile(config.CAFile)
		if err != nil {
			return nil, err
		}
		authority = string(text)
	}
	transport, err := config.TransportConfig()
	if err != nil {
		return nil, err
	}
	seen := &recorder{}
	var client http.RoundTripper = seen
	if transport.WrapTransport != nil {
		client = transport.WrapTransport(client)
	}
	if client, err = rest.HTTPWrappersForConfig(withoutPrograms(config), client); err != nil {
		return nil, err
	}
	request, _ := http.NewRequest("GET", "https://one.example/", nil)
	if _, err := client.RoundTrip(request); err != nil {
		return nil, err
	}
	certificate := string(config.CertData)
	if transport.TLS.GetCertHolder != nil {
		if made, err := transport.TLS.GetCertHolder.GetCert(); err != nil {
			return nil, err
		} else if made != nil {
			certificate = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made.Certificate[0]}))
		}
	}
	return map[string]any{
		"server": config.Host, "namespace": namespace, "authorization": seen.authorization, "authority": authority,
		"certificate": certificate, "server_name": config.ServerName, "insecure": config.Insecure,
	}, nil
}

// The wrappers for tokens and passwords alone: the program's is there already.
func withoutPrograms(config *rest.Config) *rest.Config {
	copied := rest.CopyConfig(config)
	copied.ExecProvider = nil
	copied.WrapTransport = nil
	return copied
}
`

/** A kubeconfig as client-go reads it; `error` alone when it refuses. */
export interface Told {
  error?: string
  server: string
  namespace: string
  authorization: string
  /** PEM, as are those of the client. */
  authority: string
  certificate: string
  server_name: string
  insecure: boolean
}

/**
 * Path of the program that reads kubeconfigs with Kubernetes' own client.
 * @throws Unavailable as `buildGo`
 */
export const buildReader = (tools: Tools): Promise<string> =>
  buildGo(
    {
      name: 'kubeconfig-reader',
      version: CLIENT_GO,
      source: { files: async () => ({ 'go.mod': GO_MOD, 'main.go': MAIN }) },
      package: '.',
    },
    tools,
  )

export async function readWithClientGo(program: string, env: Record<string, string>): Promise<Told> {
  const { stdout } = await promisify(execFile)(program, { env })
  return JSON.parse(stdout) as Told
}
