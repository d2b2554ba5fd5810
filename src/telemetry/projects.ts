import type { Config } from '../../config/types.ts'
import type { Operation } from '../base/vocabulary.ts'

const PREFIX = { development: 'dev', staging: 'pre', production: 'pro' } as const
const SUFFIX = { generate: 'day2', drift: 'drift', import: 'import' } as const

/** The project under which the collector files a session's spans, for example `dev-engine-day2`. */
export const projectOf = (environment: Config['environment'], operation: Operation): string =>
  `${PREFIX[environment]}-engine-${SUFFIX[operation]}`
