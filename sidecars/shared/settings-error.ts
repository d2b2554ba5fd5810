/** Wrong settings, all at once; the message is for the operator. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}
