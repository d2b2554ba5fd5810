// Preloaded into the emulator, so that it ends with the script that started it, in any case.
process.on('disconnect', () => process.exit(0))
