import { PlatformError } from '../../../src/base/errors.ts'
import type { PlanToStore } from '../plan/store-plan.ts'
import { type EngineStep, withoutWarnings } from './diagnose.ts'

/** The verdict on an attempt. */
export type Validation<Value> = PlanToStore & {
  /** The verdicts of named checks of a valid plan. */
  verdicts?: ReadonlyMap<string, boolean>
} & (
    | { ok: true; value: Value }
    | {
        ok: false
        feedback: string
        value?: Value
        step?: EngineStep
        /** The query for the next attempt where the engine accepted the code. */
        query?: string
        /** The message of the round if no later attempt is better: nothing loads the code, so no engine was asked. */
        unloaded?: string
        goodEnough?: GoodEnough<Value>
      }
  )

/** A rejected attempt that is accepted after all when every later one fails. */
export interface GoodEnough<Value> {
  /** The query for the next attempt, in place of the repair query. */
  query: string
  /** Validates the attempt again after its code was restored. */
  validateAgain(): Promise<Validation<Value>>
}

/** Returns the objection of the validator; null when there is none. */
export const wordsAbout = (validation: Validation<unknown>): string | null =>
  validation.ok ? null : withoutWarnings(validation.feedback) || 'The attempt was not accepted.'

/** Thrown when every attempt failed. */
export class ValidationLoopExceeded extends PlatformError {
  /** The verdict on the last attempt; null when there was none. */
  readonly last: Validation<unknown> | null
  constructor(
    last: Validation<unknown> | null,
    code = 'ValidationLoopExceededError',
    message = 'Validation loop exceeded.',
  ) {
    super(code, 422, message)
    this.last = last
  }
}

/** Thrown when the engine failed for a reason outside of the code. The message says what to do. */
export class EnvironmentFailure extends ValidationLoopExceeded {
  constructor(last: Validation<unknown>, message: string) {
    super(last, 'EnvironmentFailure', message)
  }
}

/** Thrown when an attempt leaves code unchanged that the engine refuses. The message has the words of its author. */
export class LeftUnchanged extends ValidationLoopExceeded {
  /** True if the code had every error before the session, so that the session may go on. */
  readonly isOlder: boolean
  constructor(last: Validation<unknown>, { isOlder, message }: { isOlder: boolean; message: string }) {
    super(last, 'CodeLeftUnchanged', message)
    this.isOlder = isOlder
  }
}

/** Thrown when nothing loads the code of the last attempt. The message says where the engine would. */
export class CodeNotLoaded extends ValidationLoopExceeded {
  constructor(last: Validation<unknown>, message: string) {
    super(last, 'CodeNotLoaded', message)
  }
}
