import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { applyScripts } from '../../modes/apply-world.ts'
import { done, operations, splits, targets, write } from '../../modes/scripts.ts'
import { type Stack, startStack } from '../../modes/stack.ts'
import { writeEngineConfig } from '../tools/providers.ts'
import { type Cluster, startCluster } from './cluster.ts'

export interface World extends Stack {
  cluster: Cluster
  /** Environment of an engine that works beside the platform. */
  beside: Record<string, string>
}

/**
 * A stack whose sidecar has the cluster and the mirror; the model is scripted, all else is real.
 * @param env more variables of the sidecar
 */
export async function startWorld(env: Record<string, string> = {}): Promise<World> {
  const cluster = await startCluster()
  const mirror = process.env.WORLD_MIRROR ?? ''
  const folder = await mkdtemp(join(tmpdir(), 'world-engine-'))
  const config = await writeEngineConfig(mirror, { folder } as Parameters<typeof writeEngineConfig>[1])
  const sidecar = { ...cluster.env(), IAC_PROVIDER_MIRROR: mirror, IAC_EGRESS_ALLOW: new URL(cluster.url).host }
  const stack = await startStack({ sidecar: { ...sidecar, ...env } })
  const close = async () => {
    await stack.close()
    await cluster.close()
    await rm(folder, { recursive: true, force: true })
  }
  return { ...stack, close, cluster, beside: { ...cluster.env(), TF_CLI_CONFIG_FILE: config } }
}
export const PROVIDER = `terraform {
  required_providers {
    kubernetes = {
      source = "hashicorp/kubernetes"
    }
  }
}

provider "kubernetes" {
}
`
export const settings = (name: string, colour: string) => `resource "kubernetes_config_map_v1" "${name}" {
  metadata {
    name      = "${name}"
    namespace = "default"
  }
  data = {
    colour = "${colour}"
  }
}
`
/** The address at which it is read. */
export const configMap = (name: string) => `/api/v1/namespaces/default/configmaps/${name}`
/** The filters of drift find nothing else. */
export const nothingElse = splits(operations([]), operations([]))
export const generating = (name: string) =>
  applyScripts({
    task_complete: [write(`${name}.tf`, settings(name, 'blue')), done('Added settings.')],
    generate_engine_targets: targets(`kubernetes_config_map_v1.${name}`),
    ...nothingElse,
  })
export const provider = 'kubernetes' as const

/** Merges the branch of a session, as a reviewer does at the git host. */
export const merge = (stack: Stack, repo_uri: string, branch: string) =>
  stack.git(repo_uri, 'update-ref', 'refs/heads/main', branch)
