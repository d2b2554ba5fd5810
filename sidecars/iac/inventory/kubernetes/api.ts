import type { Logger } from '../../../../src/base/log.ts'
import { askJson } from '../http.ts'
import type { InventoryRequest } from '../types.ts'
import { type Cluster, transportOf } from './cluster.ts'

export const SOURCE = 'Kubernetes API'

/** Reads from one API server. */
export interface Api {
  /** The namespace that is listed where the whole cluster may not be; empty when unknown. */
  namespace: string
  log: Logger
  /** @param path the path below the server's address, with its query. Errors: `InventoryError`. */
  get(path: string, accept: string): Promise<unknown>
}

export function createApi(request: InventoryRequest, cluster: Cluster): Api {
  const fetch = transportOf(cluster, request.fetch)
  return {
    namespace: cluster.namespace,
    log: request.log,
    get: (path, accept) =>
      askJson({
        source: SOURCE,
        url: `${cluster.server}${path}`,
        headers: { ...cluster.headers, accept },
        request,
        fetch,
      }),
  }
}
