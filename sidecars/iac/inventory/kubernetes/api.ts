import type { Fetch } from '../../../../src/base/http.ts'
import type { Logger } from '../../../../src/base/log.ts'
import { askJson } from '../http.ts'
import { type InventoryRequest, RefusedError } from '../types.ts'
import { type Cluster, type CurrentCluster, transportOf } from './cluster.ts'

export const SOURCE = 'Kubernetes API'

export interface Api {
  /** The namespace that is listed if the whole cluster may not be; empty when unknown. */
  namespace: string
  log: Logger
  /** Reads `path`, which is relative to the server's address and has its query. Errors: `InventoryError`. */
  get(path: string, accept: string): Promise<unknown>
}

export async function createApi(request: InventoryRequest, current: CurrentCluster): Promise<Api> {
  const transports = new WeakMap<Cluster, Fetch>()
  const fetchOf = (cluster: Cluster) => {
    const fetch = transports.get(cluster) ?? transportOf(cluster, request.fetch)
    transports.set(cluster, fetch)
    return fetch
  }
  const ask = (cluster: Cluster, path: string, accept: string) =>
    askJson({
      source: SOURCE,
      url: `${cluster.server}${path}`,
      headers: { ...cluster.headers, accept },
      request,
      fetch: fetchOf(cluster),
    })
  return {
    namespace: (await current()).namespace,
    log: request.log,
    get: async (path, accept) => {
      const cluster = await current()
      try {
        return await ask(cluster, path, accept)
      } catch (error) {
        if (!(error instanceof RefusedError) || error.status !== 401) throw error
        // Credentials can end before their time, for example when they are replaced.
        const other = await current(cluster)
        if (other === cluster) throw error
        return ask(other, path, accept)
      }
    },
  }
}
