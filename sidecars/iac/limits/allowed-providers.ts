import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A pattern as the engine's configuration takes it: `[host/]namespace/type`, where namespace and type may be `*`. */
export const PROVIDER_PATTERN = /^(?:[a-z0-9.-]+\.[a-z0-9.:-]+\/)?(?:[a-z0-9_-]+|\*)\/(?:[a-z0-9_-]+|\*)$/i

/**
 * Providers that the lock file of a workspace names and no pattern allows. The engine enforces the patterns
 * when it installs; a workspace may bring what was installed elsewhere.
 */
export async function foreignProviders(workspace_path: string, allowed: readonly string[]): Promise<string[]> {
  if (allowed.length === 0) return []
  const lock = await readFile(join(workspace_path, '.terraform.lock.hcl'), 'utf8').catch(() => '')
  const sources = [...lock.matchAll(QUOTED)]
    .map(([, text = '']) => text)
    .filter((text) => /[/\\]/.test(text) && !HASH.test(text))
  return sources
    .map((source) => source.toLowerCase())
    .filter((source) => !BUILT_IN.test(source) && !allowed.some((pattern) => matches(pattern.toLowerCase(), source)))
}

/** Comments may stand between the words of a block: every text that could be an address counts as one. */
const QUOTED = /"([^"\n]*)"/g
const HASH = /^(h1:[A-Za-z0-9+/]{43}=|zh:[0-9a-f]{64})$/
const BUILT_IN = /^terraform\.io\/builtin\//
const DEFAULT_HOSTS = ['registry.terraform.io', 'registry.opentofu.org']

function matches(pattern: string, source: string): boolean {
  const [host = '', namespace = '', type = ''] = source.split('/')
  const parts = pattern.split('/')
  const [type_pattern = '', namespace_pattern = '', host_pattern] = parts.toReversed()
  const hosts = host_pattern === undefined ? DEFAULT_HOSTS : [host_pattern]
  return hosts.includes(host) && covers(namespace_pattern, namespace) && covers(type_pattern, type)
}

const covers = (pattern: string, name: string) => pattern === '*' || pattern === name
