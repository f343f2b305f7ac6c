// What stands over everything else: the palette, or the list of keys.

class PaletteState {
  isOpen = $state(false);
  areKeysShown = $state(false);

  toggle(): void {
    this.isOpen = !this.isOpen;
  }

  close = (): void => {
    this.isOpen = false;
  };

  showKeys = (): void => {
    this.areKeysShown = true;
  };

  hideKeys = (): void => {
    this.areKeysShown = false;
  };
}

export const palette = new PaletteState();
