import { MAX_TOKENS } from '../../../src/hcl/read.ts'
import { type ConfigTree, parseHclTree } from './config-tree.ts'
import type { FileScan } from './findings.ts'
import { parseJsonTree } from './json-tree.ts'
import { findBackends } from './rules/backends.ts'
import { findFiles } from './rules/files.ts'
import { findSources } from './rules/modules.ts'
import type { Place } from './rules/place.ts'
import { findPrograms } from './rules/programs.ts'
import { findProviders } from './rules/providers.ts'

/** Scans a file in the native form of the language. Errors: `TooManyTokens`. */
export const scanHcl = (source: string, place: Place, maxTokens = MAX_TOKENS): FileScan =>
  judge(parseHclTree(source, maxTokens), place, 'hcl')

/** Scans a file in the JSON form of the language. Errors: `TooManyTokens`. */
export const scanJson = (source: string, place: Place, maxTokens = MAX_TOKENS): FileScan =>
  judge(parseJsonTree(source, maxTokens), place, 'json')

function judge(tree: ConfigTree, place: Place, form: 'hcl' | 'json'): FileScan {
  const sources = findSources(tree, place)
  return {
    findings: [
      ...findPrograms(tree, form),
      ...findBackends(tree, place),
      ...findProviders(tree, place),
      ...findFiles(tree, place),
      ...sources.findings,
    ],
    modules: sources.modules,
    complete: tree.complete,
    tokens: tree.tokens,
  }
}
