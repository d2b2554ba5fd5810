/**
 * Prompt bodies by qualified name `<scope>-<type>-<name>`.
 * Errors: `PlatformError` 404 `Prompt not found: <name>`, 502 when the registry of prompts fails; the
 * signal's reason, or `OutboundError` kind `aborted`, when the signal fires.
 */
export interface PromptSource {
  body(name: string, signal?: AbortSignal): Promise<string>
}
