import { createRequire } from 'node:module'
import { join } from 'node:path'

/** The folder in which the part has installed the clients. */
export const ORACLES = process.env.ORACLES ?? ''

const require = createRequire(join(ORACLES, 'package.json'))

/**
 * A client of a provider. It has no types here, because its package is not among those of the project.
 */
// biome-ignore lint/suspicious/noExplicitAny: answers of seven clients are taken apart field by field
export type Loose = any

/** A package among the clients, by its name. */
export const sdk = (name: string): Loose => require(name) as Loose
