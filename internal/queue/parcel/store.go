// Package parcel carries tasks between machines: what travels are git refs, in bundles through the hub's object store.
//
// Whatever comes from another machine is checked in a [Room], a repository of its own, before it is used.
package parcel

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"codeloops/internal/file"
)

// bucket is the name of the object store.
const bucket = "codeloops-parcels"

// chunks is the prefix of the subjects of what objects consist of.
const chunks = "$O." + bucket + ".C."

// chunk is the size of a message: every server accepts it, and each costs a disk write.
const chunk = 512 << 10

// A Store holds parcels on the hub. It is safe for concurrent use.
type Store struct {
	js      jetstream.JetStream
	objects jetstream.ObjectStore
	stream  jetstream.Stream // underlying stream
}

// OpenStore opens the store, and creates it if needed.
func OpenStore(ctx context.Context, conn *nats.Conn, replicas int) (*Store, error) {
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, fmt.Errorf("open the store of parcels: %w", err)
	}
	s := &Store{js: js}
	s.objects, err = js.ObjectStore(ctx, bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		s.objects, err = js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: bucket, Storage: jetstream.FileStorage, Replicas: max(1, replicas)})
	}
	if err == nil {
		s.stream, err = js.Stream(ctx, "OBJ_"+bucket)
	}
	if err != nil {
		return nil, fmt.Errorf("open the store of parcels: %w", err)
	}
	return s, nil
}

// Put uploads a file, completely or not at all, in the place of an earlier one, which somebody may just be reading: the
// sweep removes that. It writes an object as specified in NATS ADR-20: its chunks, then its description. Each chunk waits for
// the one before it, as the hub holds what it has not written in memory.
func (s *Store) Put(ctx context.Context, name, path string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("send the parcel %s: %w", name, err)
		}
	}()
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	o := jetstream.ObjectInfo{Bucket: bucket, NUID: rand.Text()}
	o.Name, o.Opts = name, &jetstream.ObjectMetaOptions{ChunkSize: chunk}
	sum, text := sha256.New(), make([]byte, chunk)
	for {
		n, err := file.Fill(f, text)
		if n == 0 && err == nil {
			break
		}
		if err == nil {
			sum.Write(text[:n])
			_, err = s.js.Publish(ctx, chunks+o.NUID, text[:n])
		}
		if err != nil {
			return err
		}
		o.Size, o.Chunks = o.Size+uint64(n), o.Chunks+1
	}
	o.Digest = jetstream.GetObjectDigestValue(sum)
	m := nats.NewMsg("$O." + bucket + ".M." + encoded(name))
	m.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
	if m.Data, err = json.Marshal(o); err != nil {
		return err
	}
	_, err = s.js.PublishMsg(ctx, m)
	return err
}

// Get downloads a parcel to a file, and verifies its digest. The error is [nats.ErrTimeout] where the hub falls silent
// for some seconds meanwhile.
func (s *Store) Get(ctx context.Context, name, path string) error {
	err := s.objects.GetFile(ctx, name, path)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nats.ErrTimeout // the client names the timeout of its own pipe
	}
	if err != nil {
		return fmt.Errorf("fetch the parcel %s: %w", name, err)
	}
	return nil
}

// Delete removes parcels. It ignores missing ones.
func (s *Store) Delete(ctx context.Context, names ...string) (err error) {
	for _, name := range names {
		if e := s.objects.Delete(ctx, name); e != nil && !errors.Is(e, jetstream.ErrObjectNotFound) {
			err = errors.Join(err, fmt.Errorf("remove the parcel %s: %w", name, e))
			continue
		}
		_ = s.stream.Purge(ctx, jetstream.WithPurgeSubject("$O."+bucket+".M."+encoded(name))) // the marker that it was deleted
	}
	return err
}

// Sent is the age at which a parcel that is not used is no longer being sent.
const Sent = time.Hour

// Sweep removes parcels that are not used, and chunks of unfinished uploads, from before a time.
func (s *Store) Sweep(ctx context.Context, used func(name string) bool, before time.Time) error {
	all, err := s.objects.List(ctx)
	if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		return fmt.Errorf("look through the parcels: %w", err)
	}
	whole := map[string]bool{} // IDs of complete objects
	var idle []string
	for _, o := range all {
		whole[o.NUID] = true
		if o.ModTime.Before(before) && !used(o.Name) {
			idle = append(idle, o.Name)
		}
	}
	info, err := s.stream.Info(ctx, jetstream.WithSubjectFilter(chunks+">"))
	if err != nil {
		return fmt.Errorf("look through the parcels: %w", err)
	}
	for subject := range info.State.Subjects {
		if whole[strings.TrimPrefix(subject, chunks)] {
			continue
		}
		last, err := s.stream.GetLastMsgForSubject(ctx, subject)
		if err != nil || !last.Time.Before(before) {
			continue // an upload in progress
		}
		if err := s.stream.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil {
			return fmt.Errorf("remove the rest of a parcel: %w", err)
		}
	}
	return s.Delete(ctx, idle...)
}

// encoded is a name as used in the store's subjects.
func encoded(name string) string { return base64.URLEncoding.EncodeToString([]byte(name)) }
