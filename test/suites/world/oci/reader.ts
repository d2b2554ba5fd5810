import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Tools } from '../part.ts'
import { buildGo } from '../tools/go.ts'

/** Of the line of the engine's provider for OCI. */
export const SDK = '65.123.2'

const GO_MOD = `module oci

go 1.24.0

require github.com/oracle/oci-go-sdk/v65 v${SDK}
`

/** Finds the credentials as the engine's provider does, and tells by which name and with which key it would sign. */
const MAIN = `package main

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/oracle/oci-go-sdk/v65/common"
	"github.com/oracle/oci-go-sdk/v65/common/auth"
)

type dispatcher struct {
	inner common.HTTPRequestDispatcher
	asked map[string]any
}

// Answers for the federation endpoint; the metadata is asked as it is.
func (d *dispatcher) Do(request *http.Request) (*http.Response, error) {
	if request.URL.Scheme == "http" {
		return d.inner.Do(request)
	}
	body, _ := io.ReadAll(request.Body)
	var parsed map[string]any
	json.Unmarshal(body, &parsed)
	d.asked["url"] = request.URL.String()
	d.asked["authorization"] = request.Header.Get("Authorization")
	d.asked["body"] = parsed
	answer := "{\\"token\\":\\"" + os.Getenv("WORLD_OCI_TOKEN") + "\\"}"
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewBufferString(answer)), Request: request}, nil
}

func main() {
	told, err := read()
	if err != nil {
		told = map[string]any{"error": err.Error()}
	}
	json.NewEncoder(os.Stdout).Encode(told)
}

func read() (map[string]any, error) {
	told := map[string]any{}
	provider, err := providerOf(told)
	if err != nil {
		return nil, err
	}
	id, err := provider.KeyID()
	if err != nil {
		return nil, err
	}
	key, err := provider.PrivateRSAKey()
	if err != nil {
		return nil, err
	}
	region, err := provider.Region()
	if err != nil {
		return nil, err
	}
	public, _ := x509.MarshalPKIXPublicKey(key.Public())
	sum := sha256.Sum256(public)
	told["key_id"], told["key"], told["region"] = id, hex.EncodeToString(sum[:]), region
	return told, nil
}

func providerOf(told map[string]any) (common.ConfigurationProvider, error) {
	path, profile := os.Getenv("OCI_CONFIG_FILE"), os.Getenv("OCI_CLI_PROFILE")
	if profile == "" {
		profile = "DEFAULT"
	}
	switch kind := os.Getenv("OCI_AUTH"); kind {
	case "ApiKey":
		return common.CustomProfileConfigProvider(path, profile), nil
	case "SecurityToken":
		return common.ConfigurationProviderForSessionTokenWithProfile(path, profile, os.Getenv("OCI_PRIVATE_KEY_PASSWORD"))
	case "ResourcePrincipal":
		return auth.ResourcePrincipalConfigurationProvider()
	case "InstancePrincipal":
		asked := map[string]any{}
		told["asked"] = asked
		return auth.InstancePrincipalConfigurationProviderWithCustomClient(func(inner common.HTTPRequestDispatcher) (common.HTTPRequestDispatcher, error) {
			return &dispatcher{inner, asked}, nil
		})
	default:
		return nil, fmt.Errorf("unknown: %s", kind)
	}
}
`

/** The settings as the vendor's client reads them; `error` alone when it refuses. */
export interface Told {
  error?: string
  key_id: string
  /** SHA-256 of the public key, hexadecimal. */
  key: string
  region: string
  /** For the principal of an instance: how a token was asked for. */
  asked?: { url: string; authorization: string; body: Record<string, unknown> }
}

/**
 * Path of the program that reads credentials with OCI's own client.
 * @throws Unavailable as `buildGo`
 */
export const buildReader = (tools: Tools): Promise<string> =>
  buildGo(
    {
      name: 'oci-reader',
      version: SDK,
      source: { files: async () => ({ 'go.mod': GO_MOD, 'main.go': MAIN }) },
      package: '.',
    },
    tools,
  )

export async function readWithSdk(program: string, env: Record<string, string>): Promise<Told> {
  const { stdout } = await promisify(execFile)(program, { env })
  return JSON.parse(stdout) as Told
}
