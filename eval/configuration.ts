import { type Document, readDocument, SHIPPED_CONFIGURATION, section } from '../dev/stack/choices.ts'

/**
 * Reads the operator's configuration, or the shipped one, whose models are only defaults and are left out. Errors: the
 * operator's file cannot be read or is no YAML mapping.
 * @param own value of PLATFORM_CONFIG
 */
export async function readConfiguration(own: string | undefined): Promise<Document> {
  const path = own?.trim()
  const document = await readDocument(path || SHIPPED_CONFIGURATION)
  return path ? document : { ...document, llm: without(section(document, 'llm'), ['model', 'small_model']) }
}

export const without = (fields: Document, names: readonly string[]): Document =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))
