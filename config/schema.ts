import { adminSchema } from './sections/admin.ts'
import { databaseSchema } from './sections/database.ts'
import { environmentSchema } from './sections/environment.ts'
import { gitSchema } from './sections/git.ts'
import { httpSchema } from './sections/http.ts'
import { llmSchema } from './sections/llm.ts'
import { oidcSchema } from './sections/oidc.ts'
import { orchestrationSchema } from './sections/orchestration.ts'
import { pathsSchema } from './sections/paths.ts'
import { redisSchema } from './sections/redis.ts'
import { iacSchema, optionalServiceSchema } from './sections/services.ts'
import { storageSchema } from './sections/storage.ts'
import { telemetrySchema } from './sections/telemetry.ts'
import { workerSchema } from './sections/worker.ts'

/** Every section of the file by its dotted path; the empty path is the top level. */
export const SECTIONS = {
  '': environmentSchema,
  oidc: oidcSchema,
  admin: adminSchema,
  'services.iac': iacSchema,
  'services.notifications': optionalServiceSchema,
  'services.mapping': optionalServiceSchema,
  'services.authz': optionalServiceSchema,
  orchestration: orchestrationSchema,
  llm: llmSchema,
  paths: pathsSchema,
  database: databaseSchema,
  redis: redisSchema,
  telemetry: telemetrySchema,
  http: httpSchema,
  storage: storageSchema,
  git: gitSchema,
  worker: workerSchema,
} as const
