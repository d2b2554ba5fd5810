import { createTag, type Execute } from './query.ts'
import type { Transaction } from './types.ts'

/** A connection that was taken from the pool. `give_back` closes it when it is lost. */
export interface Connection {
  execute: Execute
  give_back(options: { lost: boolean }): void
}

/**
 * Runs `work` in a transaction: commit when it resolves, rollback when it rejects. Its statements run
 * one after the other in the order in which they were awaited.
 */
export async function runTransaction<T>(
  connection: Connection,
  mode: string,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const run = inOrder(connection.execute)
  const control = (text: string) => run({ text, values: [] })
  try {
    await control(`BEGIN ${mode.replaceAll(/[^a-z ]/gi, '')}`)
    const result = await work(withSavepoints(run, control))
    const { command } = await control('COMMIT')
    // The answer to the end of a transaction in which a statement failed.
    if (command === 'ROLLBACK') throw new Error('the transaction was rolled back because one of its statements failed')
    connection.give_back({ lost: false })
    return result
  } catch (error) {
    // Closing the connection rolls back as well; so does a ROLLBACK that does not get through.
    const undone = control('ROLLBACK').then(
      () => connection.give_back({ lost: false }),
      () => connection.give_back({ lost: true }),
    )
    await undone
    throw error
  }
}

function withSavepoints(run: Execute, control: (text: string) => Promise<unknown>): Transaction {
  let count = 0
  const savepoint = async <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => {
    const name = `s${++count}`
    await control(`SAVEPOINT ${name}`)
    try {
      return await work(tx)
    } catch (error) {
      await control(`ROLLBACK TO SAVEPOINT ${name}`)
      throw error
    }
  }
  const tx: Transaction = Object.assign(createTag(run), { savepoint })
  return tx
}

/** One connection takes one statement at a time. */
function inOrder(execute: Execute): Execute {
  let last: Promise<unknown> = Promise.resolve()
  return (statement, options) => {
    const next = last.then(() => execute(statement, options))
    last = next.catch(() => {})
    return next
  }
}
