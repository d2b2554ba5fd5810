import { complianceChecker } from './compliance-checker.ts'
import { filterDriftExceptions, filterReconciliation, taskSplitter } from './drift-chains.ts'
import { iacGenerator } from './iac-generator.ts'
import { importAddresses, importFilter } from './import-chains.ts'
import { intentCheck } from './intent-check.ts'
import { promptCompositor } from './prompt-compositor.ts'
import { pullRequestText } from './pull-request-text.ts'
import { applyReportWriter, driftReportWriter, generateReportWriter, importReportWriter } from './report-writers.ts'
import { requestsFilter } from './requests-filter.ts'
import { statusUpdate } from './status-update.ts'
import { driftTargets, sessionTargets } from './target-generator.ts'

/** Every chain, in the order of a round. */
export const CHAINS = [
  requestsFilter,
  intentCheck,
  promptCompositor,
  iacGenerator,
  sessionTargets,
  driftTargets,
  taskSplitter,
  filterReconciliation,
  filterDriftExceptions,
  importFilter,
  importAddresses,
  generateReportWriter,
  driftReportWriter,
  applyReportWriter,
  importReportWriter,
  complianceChecker,
  pullRequestText,
  statusUpdate,
] as const

/** Names of the chains in traces and meters; chains with variants share one. */
export type ChainName = (typeof CHAINS)[number]['name']
