import type { PlainProvider } from '../providers.ts'
import type { Quirks } from '../quirks.ts'
import { baseUrl, sameHost } from './base-url.ts'
import { askedWire, connectByWire } from './by-wire.ts'
import { type Asked, type Connection, Unconfigured } from './types.ts'

/** A row that speaks chat completions, at its own address or another one. */
export function connectPlain(provider: PlainProvider, asked: Asked): Connection {
  const configured =
    asked.param('api_base') ?? asked.param('base_url') ?? asked.variable(...provider.base_url_variables)
  const address = configured ? baseUrl(configured, provider.default_path) : provider.base_url
  if (address === null) throw new Unconfigured(`${provider.base_url_variables[0]} is not set`)
  const key = asked.param('api_key') ?? asked.variable(...provider.key_variables)
  const official = provider.base_url !== null && sameHost(address, provider.base_url)
  if (!key && official && !provider.key_optional) throw new Unconfigured(`${provider.key_variables[0]} is not set`)
  const known = provider.quirks?.(asked.model_id) ?? {}
  const quirks = official ? known : sayingAll(known)
  const connection = connectByWire(asked, askedWire(asked) ?? 'chat', { base_url: address, key, quirks })
  const organization = asked.param('organization') ?? asked.variable(provider.organization_variable ?? '')
  return organization ? { ...connection, organization } : connection
}

/** A server that is not the vendor's may know the usual parameters alone; what it does not take is learnt from its refusal. */
const sayingAll = ({ cap: _, unsupported = [], ...quirks }: Partial<Quirks>): Partial<Quirks> => ({
  ...quirks,
  unsupported: unsupported.filter((name) => name !== 'temperature'),
})
