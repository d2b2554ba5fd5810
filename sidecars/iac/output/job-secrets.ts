import { readStateSecrets } from '../limits/state-keys.ts'

/** The secrets to hide in the output of a job: those of the service's environment and of the state store. */
export class JobSecrets {
  readonly #ofService: readonly string[]
  readonly #overrideName: string
  readonly #running = new Map<string, readonly string[]>()

  constructor(ofService: readonly string[], overrideName: string) {
    this.#ofService = ofService
    this.#overrideName = overrideName
  }

  /** The secrets of the service alone, for a job that has no workspace. */
  get ofService(): readonly string[] {
    return this.#ofService
  }

  /** Reads those of a job that begins, and remembers them until `close`. */
  async open(jobId: string, workspace: string): Promise<readonly string[]> {
    const keys = await readStateSecrets(workspace, this.#overrideName)
    const secrets = keys.length === 0 ? this.#ofService : [...this.#ofService, ...keys]
    this.#running.set(jobId, secrets)
    return secrets
  }

  /** Returns those of a running job; those of the service for any other, whose output is masked already. */
  of(jobId: string): readonly string[] {
    return this.#running.get(jobId) ?? this.#ofService
  }

  close(jobId: string): void {
    this.#running.delete(jobId)
  }
}
