import type { LlmConfig, ModelListEntry } from '../../config/types.ts'
import type { Fetch } from '../http/outbound.ts'
import { createDeployment, type Deployment } from './deployments.ts'

/** Answers the deployment for a model name: entries that share the name take turns. */
export type Router = (name: string) => Deployment

/** A name that no entry of `model_list` has is taken as a model string. Deployments are made on first use. */
export function createRouter(config: LlmConfig, fetcher: Fetch): Router {
  const turns = new Map<string, () => ModelListEntry>()
  const made = new Map<ModelListEntry, Deployment>()
  return (name) => {
    const turn = turns.get(name) ?? roundRobin(config.model_list, name)
    turns.set(name, turn)
    const entry = turn()
    const deployment = made.get(entry) ?? createDeployment(entry.litellm_params, config, fetcher)
    made.set(entry, deployment)
    return deployment
  }
}

function roundRobin(list: readonly ModelListEntry[], name: string): () => ModelListEntry {
  const [head = { model_name: name, litellm_params: { model: name } }, ...rest] = list.filter((entry) => entry.model_name === name)
  const entries = [head, ...rest]
  let next = 0
  return () => entries[next++ % entries.length] ?? head
}
