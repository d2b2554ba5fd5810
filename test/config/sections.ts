import { databaseSchema, redisSchema, telemetrySchema } from '../../config/sections/connections.ts'
import { gitSchema } from '../../config/sections/git.ts'
import { httpSchema } from '../../config/sections/http.ts'
import { llmSchema } from '../../config/sections/llm.ts'
import { adminSchema, oidcSchema } from '../../config/sections/oidc.ts'
import {
  auditSchema,
  environmentSchema,
  orchestrationSchema,
  pathsSchema,
  workerSchema,
} from '../../config/sections/processes.ts'
import { authzSchema, iacSchema, optionalServiceSchema } from '../../config/sections/services.ts'
import { storageSchema } from '../../config/sections/storage.ts'

/**
 * Every section of the file by dotted path; an empty path is the top level. Two tests compare page and file with it.
 */
export const SECTIONS = {
  '': environmentSchema,
  oidc: oidcSchema,
  admin: adminSchema,
  'services.iac': iacSchema,
  'services.notifications': optionalServiceSchema,
  'services.mapping': optionalServiceSchema,
  'services.authz': authzSchema,
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
  audit: auditSchema,
} as const
