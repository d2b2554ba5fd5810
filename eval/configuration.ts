import { join } from 'node:path'
import { parse } from 'yaml'
import { readText } from '../dev/files.ts'
import { PROJECT_ROOT } from '../dev/stack/data-folder.ts'
import { isJsonObject } from '../src/base/json.ts'

type Section = Record<string, unknown>

interface ConfigurationDocument {
  document: Section
  /** A section of the document; empty when it has none of this name. */
  section(name: string): Section
}

const SHIPPED = join(PROJECT_ROOT, 'config/platform.yaml')

/**
 * Reads the operator's configuration, or the shipped one when there is no other. A model in the operator's file was
 * chosen by the operator; those in the shipped file are defaults and are left out.
 * @param own value of PLATFORM_CONFIG
 * Errors: the operator's file does not exist or is no YAML.
 */
export async function readDocument(own: string | undefined): Promise<ConfigurationDocument> {
  const path = own?.trim()
  const text = await readText(path || SHIPPED)
  if (text === null) throw new Error(`The configuration file ${path} cannot be used: there is none.`)
  const value: unknown = parse(text) ?? {}
  const document = isJsonObject(value) ? value : {}
  return {
    document,
    section: (name) => {
      const found = document[name]
      if (!isJsonObject(found)) return {}
      return name === 'llm' && !path ? without(found, ['model', 'small_model']) : found
    },
  }
}

/** A section without some of its fields. */
export const without = (section: Section, names: readonly string[]): Section =>
  Object.fromEntries(Object.entries(section).filter(([name]) => !names.includes(name)))
