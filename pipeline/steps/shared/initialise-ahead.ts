import { createAhead } from '../../kit/ahead.ts'
import type { Kit } from '../../kit/kit.ts'
import { initialise } from '../plan/plan.ts'

/**
 * Begins init, and then the look at what the providers offer, before it is known whether the round is carried out.
 * Nobody sees anything of it until `take`.
 */
export function initialiseAhead(kit: Kit) {
  const ahead = createAhead()
  const initialising = initialise(kit, { ahead })
  const ended = initialising.then(async () => {
    if (!ahead.isOver) await kit.engine.schema.names()
  })
  // Those who need the schema ask for it again, and hear of the error.
  const settled = Promise.allSettled([ended])
  return {
    /** Shows what happened so far, and returns the end of the init, with the errors of `initialise`. */
    take: () => {
      ahead.take()
      return initialising
    },
    /** Stops what was not taken, and waits for the end of what works in the workspace. Never rejects. */
    settle: async (): Promise<void> => {
      ahead.giveUp()
      await settled
    },
  }
}
