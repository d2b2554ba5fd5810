import * as v from 'valibot'
import { fileName, matching, nonEmpty, text } from '../fields.ts'
import type { Source } from '../source.ts'
import type { Config } from '../types.ts'

export const pathsSchema = v.object({
  upload_folder: text('/workspaces', nonEmpty),
  git_folder: text(''),
  session_plan_filename: fileName('session.plan'),
  backend_override_filename: matching(
    'backend_override.tf',
    (value) => /^[A-Za-z0-9._-]{1,128}_override\.tf$/.test(value),
    'must be a file name of 1 to 128 safe characters followed by _override.tf (^[A-Za-z0-9._-]{1,128}_override\\.tf$)',
  ),
})

export function readPaths(source: Source): Config['paths'] {
  const { values } = source.section('paths', pathsSchema)
  if (values.git_folder !== '' && `${values.git_folder}/`.startsWith(`${values.upload_folder.replace(/\/+$/, '')}/`))
    source.problem('paths.git_folder must not be inside of paths.upload_folder, which the engine can write')
  return values
}
