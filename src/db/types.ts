import type postgres from 'postgres'

/** The pool. Tagged templates only; a transaction is `sql.begin(async (tx) => …)`. */
export type Sql = postgres.Sql<Record<string, never>>
export type Transaction = postgres.TransactionSql<Record<string, never>>
/** For functions that run inside or outside of a transaction. */
export type Db = Sql | Transaction
