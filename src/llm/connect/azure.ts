import { quirksOf } from '../quirks.ts'
import { chatWire } from '../wire/chat.ts'
import { openaiQuirks } from './plain.ts'
import { type Connection, type ModelEntry, Unconfigured } from './types.ts'

/** Values of the API version that stand for the undated interface, where the body names the deployment. */
const UNDATED = /^(v1|latest|preview)$/

/**
 * A deployment of an Azure resource. With a dated API version the path names the deployment; with the undated
 * interface (`…/openai/v1`) the body does. A key is sent in the header `api-key`, a token as bearer.
 * Errors: `Unconfigured`.
 */
export function connectAzure(entry: ModelEntry): Connection {
  const resource = entry.param('api_base') ?? entry.param('base_url') ?? entry.variable('AZURE_API_BASE')
  if (!resource) throw new Unconfigured('AZURE_API_BASE is not set')
  const version = entry.param('api_version') ?? entry.variable('AZURE_API_VERSION')
  const key = entry.param('api_key') ?? entry.variable('AZURE_API_KEY')
  const token = entry.param('azure_ad_token') ?? entry.variable('AZURE_AD_TOKEN')
  if (!key && !token) throw new Unconfigured('neither AZURE_API_KEY nor AZURE_AD_TOKEN is set')
  const bare = resource.replace(/\/+$/, '')
  const undated = UNDATED.test(version ?? '') || /\/openai\/v1$/.test(bare)
  if (!undated && !version) throw new Unconfigured('AZURE_API_VERSION is not set')
  const deployment = entry.modelId
  const dated = `${bare.replace(/\/openai(\/.*)?$/, '')}/openai/deployments/${encodeURIComponent(deployment)}`
  const query = undated ? (version === 'preview' || version === 'latest' ? 'preview' : null) : version
  return {
    base_url: undated ? `${bare.replace(/\/openai(\/v1)?$/, '')}/openai/v1` : dated,
    modelId: deployment,
    wire: chatWire,
    authorize: async (): Promise<Record<string, string>> =>
      key ? { 'api-key': key } : { authorization: `Bearer ${token}` },
    address: (url) => {
      if (query) url.searchParams.set('api-version', query)
      return url
    },
    quirks: quirksOf({ ...openaiQuirks(deployment), search: undated ? 'responses' : null }),
    secrets: [key, token].filter((secret) => secret !== undefined),
  }
}
