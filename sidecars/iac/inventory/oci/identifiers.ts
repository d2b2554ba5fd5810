import * as v from 'valibot'
import { shaped } from '../inputs.ts'
import type { OciClient } from './client.ts'

const OBJECT_STORAGE = 'OCI Object Storage'
const Namespace = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,100}$/))

export interface Identified {
  identifier: string
  resourceType: string
  displayName: string
}

const isBucket = ({ resourceType, displayName }: Identified): boolean =>
  resourceType.toLowerCase() === 'bucket' && displayName !== ''

/**
 * The ids by which the engine's provider knows these resources: OCIDs, but for a bucket its name and the tenancy's
 * namespace, without which a managed bucket would look like an unmanaged one.
 */
export async function providerIds(
  items: readonly Identified[],
  client: OciClient,
  object_storage: string,
): Promise<string[]> {
  if (!items.some(isBucket)) return items.map(({ identifier }) => identifier)
  const { json } = await client(OBJECT_STORAGE, new URL(`${object_storage}/n/`), null)
  const namespace = shaped(OBJECT_STORAGE, Namespace, json)
  return items.map((item) => (isBucket(item) ? `n/${namespace}/b/${item.displayName}` : item.identifier))
}
