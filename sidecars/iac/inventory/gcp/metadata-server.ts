import { OutboundError } from '../../../../src/base/http.ts'
import { askJson } from '../http.ts'
import { setting, shaped } from '../inputs.ts'
import { asAccessToken, type ObtainToken, tokenAnswer } from '../tokens.ts'
import { InventoryError, type InventoryRequest } from '../types.ts'

const SOURCE = 'Google metadata server'
/** It is on the machine itself: it answers at once, or there is none. */
const TIMEOUT_MS = 5_000

/** https://cloud.google.com/compute/docs/access/authenticate-workloads#applications */
export function metadataServerToken(request: InventoryRequest, none: string): ObtainToken {
  const host = setting(request.env, 'GCE_METADATA_HOST') ?? 'metadata.google.internal'
  if (!/^[A-Za-z0-9.\-_[\]:]+$/.test(host)) throw new InventoryError('GCE_METADATA_HOST is not a host')
  const url = `http://${host}/computeMetadata/v1/instance/service-accounts/default/token`
  return async () => {
    try {
      const headers = { 'metadata-flavor': 'Google' }
      const answer = await askJson({ request, source: SOURCE, url, headers, timeout_ms: TIMEOUT_MS, retries: 1 })
      return asAccessToken(shaped(SOURCE, tokenAnswer, answer), request)
    } catch (error) {
      // Nothing else is set up and there is no such server: then nothing is.
      if (error instanceof InventoryError && error.cause instanceof OutboundError)
        throw new InventoryError(none, { cause: error })
      throw error
    }
  }
}
