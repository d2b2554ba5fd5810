import { findEngine } from '../../sidecars/iac/engine/find.ts'

/** Returns the absolute path of the engine that the iac sidecar chooses on this machine. Tests run the same one. */
export const engineOnPath = (): Promise<string> =>
  findEngine({ binary: '', path: process.env.PATH ?? '', download: null })
