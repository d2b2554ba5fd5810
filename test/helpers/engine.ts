import { findEngine } from '../../sidecars/iac/engine/find.ts'

/** Absolute path of the engine that the iac sidecar chooses on this machine: the tests run the same one beside it. */
export const engineOnPath = (): Promise<string> =>
  findEngine({ binary: '', path: process.env.PATH ?? '', download: null })
