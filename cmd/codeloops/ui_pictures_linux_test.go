package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
)

var updatePictures = flag.Bool("update", false, "write the pictures of the page anew; look at the difference")

// A sight is a state of the page, and how a browser gets there.
type sight struct {
	name string
	way  []chromedp.Action
}

// The pictures that are kept are this much smaller than the page, and have so many shades of gray: they tell where things are,
// and not how a letter is drawn.
const (
	coarse = 8
	shades = 16
)

// settles is how often a picture that differs is taken again.
const settles = 10

// An album takes pictures of scenes at all widths and in both schemes.
type album struct {
	*testing.T

	ctx context.Context //nolint:containedctx // the browser
	// Where PICTURES names a directory, whole pictures are written there, in the machine's own fonts, for people to look at.
	dir string
}

// TestPagePictures: each sight of the page looks as it did when people looked at it last, at the width of a phone, of a window and of
// a large screen, dark and light. The pictures kept are coarse, and the page is drawn in fonts that come with the test, so that other
// browsers and fonts give the same ones.
func TestPagePictures(t *testing.T) {
	t.Parallel()
	a := &album{T: t, ctx: browser(t, 1280, 900), dir: os.Getenv("PICTURES")}
	records := os.Getenv("RECORDING") != "" && a.dir == ""
	if a.dir == "" && !records {
		do(t, a.ctx, chromedp.ActionFunc(ownFonts))
	}
	g := furnish(t)
	for _, s := range g.scenes(t) {
		do(t, a.ctx, s.way...)
		if records {
			a.record(s.name)
		} else {
			a.take(s.name)
		}
	}
}

// record writes a picture for the documentation, if it has one of this state.
func (a *album) record(name string) {
	a.Helper()
	scheme, shown := map[string]string{"home": "light", "split": "dark", "prompt": "light"}[name], []byte{}
	if scheme == "" {
		return
	}
	const places = `for (const o of document.querySelectorAll("[name=dir] option")) o.textContent = o.textContent.replace(/[/].*[/]/, "~/src/")`
	do(a.T, a.ctx, inScheme(scheme), chromedp.EmulateViewport(1280, 760), chromedp.Evaluate("scrollTo(0, 0); "+places, nil), chromedp.CaptureScreenshot(&shown))
	light, err := fewColours(shown)
	if err = errors.Join(err, os.WriteFile(filepath.Join("..", "..", "docs", "ui-"+name+".png"), light, 0o600)); err != nil {
		a.Error(err)
	}
}

// fewColours makes a picture half as large: nobody sees the colours at the edges of letters.
func fewColours(encoded []byte) ([]byte, error) {
	p, err := png.Decode(bytes.NewReader(encoded))
	if err != nil {
		return nil, err
	}
	often := map[color.Color]int{}
	for y := range p.Bounds().Dy() {
		for x := range p.Bounds().Dx() {
			often[p.At(x, y)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(often), func(a, b color.Color) int { return often[b] - often[a] })
	small := image.NewPaletted(p.Bounds(), colours[:min(len(colours), 64)])
	draw.Draw(small, small.Rect, p, image.Point{}, draw.Src)
	var b bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, small)
	return b.Bytes(), err
}

func inScheme(name string) chromedp.Action {
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}})
}

// ownFonts has every page drawn in the Go fonts, without what time, chance and the machine put there.
func ownFonts(ctx context.Context) error {
	var faces strings.Builder
	for name, font := range map[string][]byte{"own": goregular.TTF, "own mono": gomono.TTF} {
		fmt.Fprintf(&faces, "document.fonts.add(new FontFace(%q, Uint8Array.from(atob(%q), (c) => c.charCodeAt(0))));\n", name, base64.StdEncoding.EncodeToString(font))
	}
	const style = `* { font-family: own !important; caret-color: transparent !important; }
:is(pre, pre *, code, .code *, .file summary *):not(#a) { font-family: "own mono" !important; }
:is(time, .took, .course .faint, .facts dd, .sums td .faint):not(#a) { visibility: hidden; }
:is(.course .faint, .facts dd, .sums td .faint):not(#a) { display: inline-block; width: 6rem; height: 1rem; overflow: hidden; white-space: nowrap; }
* { content-visibility: visible !important; }`
	_, err := cdpage.AddScriptToEvaluateOnNewDocument(faces.String() + fmt.Sprintf(`
const own = new CSSStyleSheet();
own.replaceSync(%q);
document.adoptedStyleSheets = [own];`, style)).Do(ctx)
	return err
}

// take compares what the browser shows with the pictures that are kept, or writes these.
func (a *album) take(name string) {
	a.Helper()
	for _, width := range []int64{390, 1280, 2560} {
		height := map[int64]int64{390: 844, 1280: 900, 2560: 1440}[width]
		for _, scheme := range []string{"light", "dark"} {
			shoot := func() (shown []byte) {
				do(a.T, a.ctx, inScheme(scheme), chromedp.EmulateViewport(width, height), chromedp.Evaluate("scrollTo(0, 0)", nil),
					turns("document.fonts.status === 'loaded' && !document.querySelector('[aria-busy]:not(:empty)')"), chromedp.ActionFunc(func(ctx context.Context) (err error) {
						shown, err = whole(ctx, width, height)
						return err
					}))
				return shown
			}
			shown, file := shoot(), fmt.Sprintf("%s-%d-%s.png", name, width, scheme)
			var err error
			switch small := filepath.Join("testdata", "page", file); {
			case a.dir != "":
				err = os.WriteFile(filepath.Join(a.dir, file), shown, 0o600)
			case *updatePictures:
				err = keepCoarse(small, shown)
			default:
				err = compare(small, shown)
				for tries := 0; err != nil && tries < settles; tries++ { // a busy machine may not have drawn all of it yet
					time.Sleep(time.Second)
					err = compare(small, shoot())
				}
			}
			if err != nil {
				a.Errorf("%s: %v", file, err)
			}
		}
	}
}

// whole is a picture of the page to its end, as far as anybody would compare it.
func whole(ctx context.Context, width, height int64) ([]byte, error) {
	var is float64
	if err := chromedp.Evaluate("document.documentElement.scrollHeight", &is).Do(ctx); err != nil {
		return nil, err
	}
	const most = 3
	return cdpage.CaptureScreenshot().WithCaptureBeyondViewport(true).WithOptimizeForSpeed(true).
		WithClip(&cdpage.Viewport{Width: float64(width), Height: min(max(is, float64(height)), float64(most*height)), Scale: 1}).Do(ctx)
}

// shrunk is the mean lightness of each block of a picture.
func shrunk(encoded []byte) (*image.Gray, error) {
	p, err := png.Decode(bytes.NewReader(encoded))
	if err != nil {
		return nil, err
	}
	full := image.NewRGBA(p.Bounds())
	draw.Draw(full, full.Rect, p, image.Point{}, draw.Src)
	small := image.NewGray(image.Rect(0, 0, full.Rect.Dx()/coarse, full.Rect.Dy()/coarse))
	for i := range small.Pix {
		sum := 0
		for row := range coarse {
			at := full.PixOffset(i%small.Stride*coarse, i/small.Stride*coarse+row)
			for _, v := range full.Pix[at : at+4*coarse] {
				sum += int(v)
			}
		}
		const opaque = 255 * coarse * coarse // is in the sum, too
		small.Pix[i] = uint8((sum - opaque) / (3 * coarse * coarse))
	}
	return small, nil
}

// keepCoarse writes a picture that later ones are compared with.
func keepCoarse(path string, shown []byte) error {
	small, err := shrunk(shown)
	if err != nil {
		return err
	}
	grays := color.Palette{}
	for i := range shades {
		grays = append(grays, color.Gray{Y: uint8(i * 255 / (shades - 1))})
	}
	kept := image.NewPaletted(small.Rect, grays)
	for i, y := range small.Pix {
		kept.Pix[i] = uint8((int(y)*(shades-1) + 127) / 255)
	}
	var b bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, kept)
	return cmp.Or(err, os.WriteFile(path, b.Bytes(), 0o600))
}

// How much a picture may differ from the one that is kept. A block differs if it is that much lighter or darker; what has gone or
// come makes most blocks of some tile differ.
const (
	tile      = 8   // blocks, each way
	shade     = 24  // of 255
	most      = 26  // blocks of a tile
	mostShare = .03 // of all blocks
)

// compare says how a picture differs from the one that is kept.
func compare(path string, shown []byte) error {
	encoded, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%w (make golden writes it)", err)
	}
	small, err := shrunk(shown)
	if err != nil {
		return err
	}
	p, err := png.Decode(bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	was, is := p.Bounds().Size(), small.Rect.Size()
	if more := is.Y - was.Y; is.X != was.X || max(more, -more) > was.Y/50+1 {
		return fmt.Errorf("it was %v and is %v, in blocks of %d pixels", was, is, coarse)
	}
	tiles, all := map[image.Point]int{}, 0
	for y := range min(was.Y, is.Y) {
		for x := range is.X {
			one := int(color.GrayModel.Convert(p.At(x, y)).(color.Gray).Y) - int(small.GrayAt(x, y).Y) //nolint:forcetypeassert // its model says so
			if max(one, -one) > shade {
				tiles[image.Pt(x/tile, y/tile)]++
				all++
			}
		}
	}
	for at, n := range tiles {
		if n > most {
			return fmt.Errorf("%d of %d blocks differ around %v", n, tile*tile, at.Mul(tile*coarse))
		}
	}
	if share := float64(all) / float64(is.X*is.Y); share > mostShare {
		return fmt.Errorf("%.1f %% of it differ", 100*share)
	}
	return nil
}
