import { createTag, type Execute, type Transaction } from './sql.ts'

/** A connection taken from the pool. `giveBack` with `lost` closes it instead of keeping it. */
export interface Connection {
  execute: Execute
  giveBack(options: { lost: boolean }): void
}

/** Runs `work` in a transaction, rolled back when it rejects. Its statements run in the order of their awaits. */
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
    // The server answers COMMIT with ROLLBACK if a statement of the transaction failed.
    if (command === 'ROLLBACK') throw new Error('the transaction was rolled back because one of its statements failed')
    connection.giveBack({ lost: false })
    return result
  } catch (error) {
    // If ROLLBACK cannot be sent, the connection is closed, and the server rolls back by itself.
    await control('ROLLBACK').then(
      () => connection.giveBack({ lost: false }),
      () => connection.giveBack({ lost: true }),
    )
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

/** Serializes statements, because a connection runs one at a time. */
function inOrder(execute: Execute): Execute {
  let last: Promise<unknown> = Promise.resolve()
  return (statement, options) => {
    const next = last.then(() => execute(statement, options))
    last = next.catch(() => {})
    return next
  }
}
