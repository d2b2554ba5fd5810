import type { ReportType } from '../../base/vocabulary.ts'
import { type ReportDocuments, reportSchemas } from '../../reports/schemas.ts'
import { createResultTool } from '../result-tool.ts'
import type { Tool } from '../types.ts'

const tools: { [Type in ReportType]: () => Tool<ReportDocuments[Type]> } = {
  generate: () =>
    createResultTool({
      name: 'generate_engine_plan_report',
      description: 'Report the changes of the plan, their impact and their cost.',
      schema: reportSchemas.generate,
    }),
  drift: () =>
    createResultTool({
      name: 'generate_engine_drift_report',
      description: 'Report which drift was remediated and which was not.',
      schema: reportSchemas.drift,
    }),
  apply: () =>
    createResultTool({
      name: 'generate_engine_apply_report',
      description: 'Report what the engine changed and what failed.',
      schema: reportSchemas.apply,
    }),
  import: () =>
    createResultTool({
      name: 'generate_engine_import_report',
      description: 'Report which resources were imported and which were not.',
      schema: reportSchemas.import,
    }),
}

/** Ends REPORT_GENERATOR for a report of this type. */
export const reportTool = <Type extends ReportType>(type: Type): Tool<ReportDocuments[Type]> => tools[type]()
