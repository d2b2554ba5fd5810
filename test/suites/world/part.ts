/** Why a part cannot be had on this machine. The run goes on, names the part and fails nothing. */
export class Unavailable extends Error {
  override name = 'Unavailable'
}

/** An installed part. */
export interface Installed {
  /** As the counterpart says it itself, for the table: `OpenTofu 1.12.6`. */
  version: string
  /** For the checks, beside the environment of the run. */
  env?: Record<string, string>
  /** Runs instead of the part's own `*.world.ts` files. */
  commands?: Command[]
  /** Called when the checks are over, also when they failed. */
  stop?(): Promise<void>
}

/** One process of checks. */
export interface Command {
  title: string
  /** `vitest`: arguments of a run of the project's tests, whose tests are counted. `node`: one check, by exit code. */
  kind: 'vitest' | 'node'
  args: string[]
  env?: Record<string, string>
}

/** Something of the real world that the platform is run against: `<name>/part.ts` exports one as `part`. */
export interface Part {
  name: string
  /** The claim that it proves, in a line. */
  about: string
  /** True for the parts of continuous integration, which build and run in a few minutes. */
  ci: boolean
  /**
   * Installs or builds what is needed, in a pinned version, below the cache folder.
   * @throws Unavailable with the reason
   */
  install(tools: Tools): Promise<Installed>
}

export interface Tools {
  /** Kept between runs, outside of the checkout; a part uses `<cache>/<program>-<version>`. */
  cache: string
  /** Empty, for this run alone; removed at its end. */
  folder: string
  /** True in the short form of continuous integration. */
  ci: boolean
  /** For what is built or installed: the rest of the time that the run was given. Infinity without a limit. */
  minutesLeft(): number
  /** A line of progress. */
  say(text: string): void
}
