// The schema registry client of franz-go, asked to do what producers, consumers and tools do.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/twmb/franz-go/pkg/sr"
)

const first = `{"type":"record","name":"Oven","fields":[{"name":"id","type":"string"}]}`
const second = `{"type":"record","name":"Oven","fields":[{"name":"id","type":"string"},{"name":"heat","type":"int","default":180}]}`
const broken = `{"type":"record","name":"Oven","fields":[{"name":"weight","type":"int"}]}`

func check(err error) {
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

func main() {
	ctx := context.Background()
	client, err := sr.NewClient(sr.URLs(os.Args[1]))
	check(err)
	subject := os.Args[2]
	one, err := client.CreateSchema(ctx, subject, sr.Schema{Schema: first})
	check(err)
	two, err := client.CreateSchema(ctx, subject, sr.Schema{Schema: second})
	check(err)
	fmt.Println("versions", one.Version, two.Version, one.ID != two.ID)
	byID, err := client.SchemaByID(ctx, two.ID)
	check(err)
	fmt.Println("by id", byID.Schema == second, byID.Type)
	found, err := client.LookupSchema(ctx, subject, sr.Schema{Schema: first})
	check(err)
	fmt.Println("lookup", found.Version, found.ID == one.ID)
	_, err = client.CreateSchema(ctx, subject, sr.Schema{Schema: broken})
	var refused *sr.ResponseError
	isRefused := errors.As(err, &refused)
	fmt.Println("refused", isRefused, refused.ErrorCode)
	goes, err := client.CheckCompatibility(ctx, subject, -1, sr.Schema{Schema: broken})
	check(err)
	fmt.Println("compatible", goes.Is)
	for _, set := range client.SetCompatibility(ctx, sr.SetCompatibility{Level: sr.CompatNone}, subject) {
		check(set.Err)
	}
	for _, set := range client.Compatibility(ctx, subject) {
		check(set.Err)
		fmt.Println("level", set.Level)
	}
	uses, err := client.SchemaUsagesByID(ctx, two.ID)
	check(err)
	fmt.Println("uses", len(uses) >= 1)
	deleted, err := client.DeleteSubject(ctx, subject, sr.SoftDelete)
	check(err)
	forGood, err := client.DeleteSubject(ctx, subject, sr.HardDelete)
	check(err)
	fmt.Println("deleted", deleted, forGood)
	_, err = client.SchemaByVersion(ctx, subject, 1)
	isGone := errors.As(err, &refused)
	fmt.Println("gone", isGone, refused.ErrorCode)
}
