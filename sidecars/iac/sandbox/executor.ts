import type { EngineCommand } from '../engine/process.ts'
import type { IacSettings } from '../settings.ts'
import type { EngineProcess } from '../types.ts'

/** The boundary between an engine command and the machine, for the log and `GET /v1/engine`. */
export interface Boundary {
  sandbox: 'bubblewrap' | 'none'
  /** `isolated`: only public addresses and those that the operator allows; `host`: the network of the machine. */
  network: 'isolated' | 'host'
  /** The enforcement of limits: a control group for the whole command, limits of each process, or none. */
  limits: 'cgroup' | 'process' | 'none'
}

/** Files that a command may use beside its workspace: absolute paths; missing ones are left out. */
export interface Access {
  readable: readonly string[]
  /** Files and folders, such as credentials, that only the user of the service can read, and the engine may. */
  private: readonly string[]
  writable: readonly string[]
  /** Folders that lie at another path inside than on this machine; `isWritable` ones belong to the command. */
  moved?: readonly { from: string; inside: string; isWritable: boolean }[]
  /** Such paths relative to the home folder of the service, which the engine finds in its own. */
  home: readonly string[]
}

export const NO_ACCESS: Access = { readable: [], private: [], writable: [], home: [] }

/** Runs engine commands. The local sandbox is the first implementation; a machine per job would be another. */
export interface Executor {
  readonly boundary: Boundary
  /** Runs one command and returns its exit code. Errors: `JobFault`, as in `runEngine`. */
  run(command: EngineCommand, access: Access): Promise<number>
  /** Ends the engine that an earlier process of the service left behind. */
  stopLeftover(leader: EngineProcess): Promise<void>
  close(): Promise<void>
}

/** Returns the limits of a command that are the same for all jobs. */
export const commandLimits = ({ stopGraceSeconds, maxOutputBytes, maxWorkspaceBytes }: IacSettings) => ({
  graceMs: stopGraceSeconds * 1000,
  maxBytes: maxOutputBytes,
  maxDiskBytes: maxWorkspaceBytes,
})
