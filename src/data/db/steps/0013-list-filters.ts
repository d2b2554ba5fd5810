import type { Transaction } from '../types.ts'

/** Creates what the filters of session lists read. */
export async function createListFilters(_tx: Transaction): Promise<void> {}
