/**
 * Prompt bodies by qualified name `<scope>-<type>-<name>`.
 * Errors: `PlatformError` 404 `Prompt not found: <name>`.
 */
export interface PromptSource {
  body(name: string): Promise<string>
}
