import type { EngineCommand } from '../engine/process.ts'
import type { EngineProcess } from '../types.ts'

/**
 * The boundary between an engine command and the rest of the machine, as it is logged at the start and in `GET
 * /v1/engine`.
 */
export interface Boundary {
  sandbox: 'bubblewrap' | 'none'
  /** `isolated`: only public addresses and those that the operator allows; `host`: the network of the machine. */
  network: 'isolated' | 'host'
  /** The keeper of the limits: a control group for the whole command, the limits of each process, or nothing. */
  limits: 'cgroup' | 'process' | 'none'
}

/** Files that a command may use beside its workspace: absolute paths, of which those that do not exist are left out. */
export interface Access {
  readable: readonly string[]
  /** Files and folders that only the user of the service can read, such as credentials, and that the engine may. */
  private: readonly string[]
  writable: readonly string[]
  /** The same as paths below the home folder of the service, which the engine finds in its own. */
  home: readonly string[]
}

export const NO_ACCESS: Access = { readable: [], private: [], writable: [], home: [] }

/**
 * Runs engine commands. The local sandbox is the first implementation; one that gives every job a machine of its own
 * would be another.
 */
export interface Executor {
  readonly boundary: Boundary
  /** Runs one command and answers its exit code. Errors: `JobFault`, as `runEngine` says. */
  run(command: EngineCommand, access: Access): Promise<number>
  /** Ends the engine that an earlier process of the service has left behind. */
  stopLeftover(leader: EngineProcess): Promise<void>
  close(): Promise<void>
}
