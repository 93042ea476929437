package hub_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"codeloops/internal/queue/hub"
	"codeloops/internal/queue/hub/hubtest"
	"codeloops/internal/wording/hint"
)

// An issuer signs permissions on a server. It is a NATS operator or an account.
type issuer struct {
	t    *testing.T
	keys nkeys.KeyPair
}

func newIssuer(t *testing.T, create func() (nkeys.KeyPair, error)) issuer {
	t.Helper()
	keys, err := create()
	if err != nil {
		t.Fatal(err)
	}
	return issuer{t, keys}
}

func (i issuer) id() string {
	i.t.Helper()
	id, err := i.keys.PublicKey()
	if err != nil {
		i.t.Fatal(err)
	}
	return id
}

func (i issuer) sign(c jwt.Claims) string {
	i.t.Helper()
	token, err := c.Encode(i.keys)
	if err != nil {
		i.t.Fatal(err)
	}
	return token
}

// credentials writes a credentials file for a new user of the account.
func (i issuer) credentials() (file string) {
	i.t.Helper()
	user := newIssuer(i.t, nkeys.CreateUser)
	seed, err := user.keys.Seed()
	if err != nil {
		i.t.Fatal(err)
	}
	text, err := jwt.FormatUserConfig(i.sign(jwt.NewUserClaims(user.id())), seed)
	if err != nil {
		i.t.Fatal(err)
	}
	file = filepath.Join(i.t.TempDir(), "user.creds")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		i.t.Fatal(err)
	}
	return file
}

// TestCredentials: a server whose operator signs accounts admits users with credentials of such an account, and
// nobody else.
func TestCredentials(t *testing.T) {
	t.Parallel()
	operator, system := newIssuer(t, nkeys.CreateOperator), newIssuer(t, nkeys.CreateAccount)
	account, other := newIssuer(t, nkeys.CreateAccount), newIssuer(t, nkeys.CreateAccount)
	claims := jwt.NewAccountClaims(account.id())
	claims.Limits.JetStreamLimits = jwt.JetStreamLimits{DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
	server := hubtest.Start(t, hubtest.Options{Config: fmt.Sprintf("operator: %s\nsystem_account: %s\nresolver: MEMORY\nresolver_preload: {\n  %[2]s: %s\n  %s: %s\n}\n",
		operator.sign(jwt.NewOperatorClaims(operator.id())),
		system.id(), operator.sign(jwt.NewAccountClaims(system.id())), account.id(), operator.sign(claims))})
	home, err := hub.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	way := server.Way()
	way.Creds = account.credentials()
	link, err := home.Reach(way)
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	js, err := jetstream.New(link.Conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "any"}); err != nil {
		t.Error(err)
	}
	torn := filepath.Join(t.TempDir(), "torn.creds")
	if err := os.WriteFile(torn, []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, wanted := range map[string]string{
		other.credentials():                    "refuses the credentials",
		torn:                                   torn,
		filepath.Join(t.TempDir(), "no.creds"): "no such file",
		"":                                     "does not know the key of this home",
	} {
		way.Creds = file
		link, err := home.Reach(way)
		if err == nil {
			_ = link.Close()
			t.Errorf("%q was admitted", file)
			continue
		}
		_, hinted := hint.Of(err)
		if !strings.Contains(err.Error(), wanted) || !hinted {
			t.Errorf("%q: %v, want %q and a hint", file, err, wanted)
		}
	}
}
