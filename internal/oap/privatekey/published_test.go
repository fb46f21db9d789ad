package privatekey

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"math/big"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// secrets are the published keys: in hex, with the public half, which shows that they are what the RFC prints.
var secrets = []struct{ source, kind, secret, public string }{
	{"RFC 8032 section 7.1 TEST 1, RFC 8037 appendix A.1", "ed25519",
		"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
		"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"},
	{"RFC 8032 section 7.1 TEST 2", "ed25519", "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
		"3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"},
	{"RFC 8032 section 7.1 TEST 3", "ed25519", "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
		"fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025"},
	{"RFC 8032 section 7.1 TEST 1024", "ed25519",
		"f5e5767cf153319517630f226876b86c8160cc583bc013744c6bf255f5cc0ee5",
		"278117fc144c72340f67d0f2316e8386ceffbf2b2428c9c51fef7c597f1d426e"},
	{"RFC 8032 section 7.1 TEST SHA(abc), section 7.3", "ed25519",
		"833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
		"ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf"},
	{"RFC 8032 section 7.2", "ed25519", "0305334e381af78f141cb666f6199f57bc3495335a256a95bd2a55bf546663f6",
		"dfc9425e4f968f7f0c29f0259cf5f9aed6851c2bb4ad8bfb860cfee0ab248292"},
	{"RFC 8032 section 7.2, aBC", "ed25519", "ab9c2853ce297ddab85c993b3ae14bcad39b2c682beabc27d6d4eb20711d6560",
		"0f1d1274943b91415889152e893d80e93275a1fc0b65fd71b4b0dda10ad7d772"},
	{"RFC 8410 section 10.3", "ed25519", "d4ee72dbf913584ad5b6d8f1f769f8ad3afe7c28cbf1d4fbe097a88f44755842",
		"19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1"},
	{"zeros", "ed25519", strings.Repeat("00", 32), "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29"},
	{"0x01", "ed25519", strings.Repeat("01", 32), "8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c"},
	{"0xff", "ed25519", strings.Repeat("ff", 32), "76a1592044a6e4f511265bca73a604d90b0529d1df602be30a19a9257660d1f5"},
	{"one", "ed25519", strings.Repeat("00", 31) + "01",
		"4cb5abf6ad79fbf5abbccafcc269d85cd2651ed4b885b5869f241aedf0a5ba29"},
	{"one, little-endian", "ed25519", "01" + strings.Repeat("00", 31),
		"cecc1507dc1ddd7295951c290888f095adb9044d1b73d696e6df065d683bd4fc"},
	{"RFC 7748 section 6.1 and RFC 8037 appendix A.6, Alice", "x25519",
		"77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
		"8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"},
	{"RFC 7748 section 6.1 and RFC 8037 appendix A.6, Bob", "x25519",
		"5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
		"de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"},
	{"RFC 6979 appendix A.2.5", "p256", "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721",
		"60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"},
	{"RFC 7515 appendix A.3", "p256", un64("jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"),
		un64("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU")},
	{"RFC 7515 appendix A.4", "p521",
		un64("AY5pb7A0UFiB3RELSD64fTLOSV_jazdF7fLYyuTw8lOfRhWg6Y6rUrPAxerEzgdRhajnu0ferB0d53vM9mE15j2C"),
		un64("AekpBQ8ST8a8VcfVOTNl353vSrDCLLJXmPk06wTjxrrjcBpXp5EOnYG_NjFZ6OvLFV1jSfS9tsz4qUxcWceqwQGk")},
	{"RFC 7517 appendix A.2", "p256", un64("870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE"),
		un64("MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4")},
	{"RFC 7518 appendix C, Alice", "p256", un64("0_NxaRPUMQoAJt50Gz8YiTr8gRTwyEaCumd-MToTmIo"),
		un64("gI0GAILBdu7T53akrFmMyGcsF3n5dO7MmwNBHKW5SV0")},
	{"RFC 7518 appendix C, Bob", "p256", un64("VEmDZpDXXK8p8N0Cndsxs924q6nS1RXFASRl6BfUqdw"),
		un64("weNJy2HscCSM6AEDTDg04biOvhFhyyWvOHQfeF_PxMQ")},
	{"RFC 7515 appendix A.2", "rsa",
		un64("Eq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyWPEAeP88vLNO97IjlA7_GQ5sLKMgvfTeXZx9SE-7YwVol2NXOoAJe" +
			"46sui395IW_GO-pWJ1O0BkTGoVEn2bKVRUCgu-GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzjkn439X0M_V51gfpRLI9J" +
			"YanrC4D4qAdGcopV_0ZHHzQlBjudU2QvXt4ehNYTCBr6XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl_x_jTj3ccPDVZFD9pIuh" +
			"LhBOneufuBiB4cS98l2SR_RQyGWSeWjnczT0QU91p1DhOVRuOopznQ"),
		un64("ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4Ql" +
			"L-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUs" +
			"LA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoud" +
			"F8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ")},
	{"RFC 7517 appendix A.2", "rsa",
		un64("X4cTteJY_gn4FYPsXB8rdXix5vwsg1FLN5E3EaG6RJoVH-HLLKD9M7dx5oo7GURknchnrRweUkC7hT5fJLM0WbFAKNLWY2vv" +
			"7B6NqXSzUvxT0_YSfqijwp3RTzlBaCxWp4doFk5N2o8Gy_nHNKroADIkJ46pRUohsXywbReAdYaMwFs9tv8d_cPVY3i07a3t" +
			"8MN6TNwm0dSawm9v47UiCl3Sk5ZiG7xojPLu4sbg1U2jx4IBTNBznbJSzFHK66jT8bgkuqsk0GjskDJk19Z4qwjwbsnn4j2W" +
			"Bii3RL-Us2lGVkY8fkFzme1z0HbIkfz0Y6mqnOYtqc0X4jfcKoAC8Q"),
		un64("0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWK" +
			"RXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMic" +
			"AtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3" +
			"XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw")},
}

// un64 returns the hex of base64url.
func un64(text string) string {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return hex.EncodeToString(raw)
}

// The list holds each published key and nothing else.
func TestPublished(t *testing.T) {
	want, ed25519 := map[string]bool{}, 0
	for _, k := range secrets {
		secret := must.Get(hex.DecodeString(k.secret))(t)
		if public := publicOf(t, k.kind, secret, k.public); public != k.public {
			t.Errorf("%s: the public half is %s", k.source, public)
		}
		sum := sha256.Sum256(secret)
		want[hex.EncodeToString(sum[:])] = true
		if published[hex.EncodeToString(sum[:])] == "" {
			t.Errorf("%s: add %x", k.source, sum)
		}
		if k.kind == "ed25519" {
			ed25519++
			if Published(k.public) == "" {
				t.Errorf("%s: the public half is not known", k.source)
			}
		}
	}
	if len(published) != len(want)+ed25519 {
		t.Errorf("the list has %d entries, want %d and %d public halves", len(published), len(want), ed25519)
	}
}

func publicOf(t *testing.T, kind string, secret []byte, public string) string {
	x := func(curve ecdh.Curve, from, to int) string {
		key := must.Get(curve.NewPrivateKey(secret))(t)
		return hex.EncodeToString(key.PublicKey().Bytes()[from:to])
	}
	switch kind {
	case "ed25519":
		return hex.EncodeToString(ed25519.NewKeyFromSeed(secret).Public().(ed25519.PublicKey))
	case "x25519":
		return x(ecdh.X25519(), 0, 32)
	case "p256":
		return x(ecdh.P256(), 1, 33)
	case "p521":
		return x(ecdh.P521(), 1, 67)
	}
	raw := must.Get(hex.DecodeString(public))(t)
	n, two := new(big.Int).SetBytes(raw), big.NewInt(2)
	power := new(big.Int).Exp(two, big.NewInt(65537), n)
	if power.Exp(power, new(big.Int).SetBytes(secret), n).Cmp(two) != 0 {
		return "another"
	}
	return public
}

// The keys of the examples are published until this process accepts them; no call makes it accept those of RFCs.
func TestExamples(t *testing.T) {
	t.Cleanup(func() { acceptsExamples.Store(false) })
	seed := sha256.Sum256([]byte("nova"))
	key := ed25519.NewKeyFromSeed(seed[:])
	nova, zeros := hex.EncodeToString(key[32:]), hex.EncodeToString(ed25519.NewKeyFromSeed(make([]byte, 32))[32:])
	if Published(nova) == "" || unpublished(key.Seed()) {
		t.Error("the key of an example is not known")
	}
	seed = sha256.Sum256([]byte("somebody's own"))
	if own := ed25519.NewKeyFromSeed(seed[:]); Published(hex.EncodeToString(own[32:])) != "" || !unpublished(seed[:]) {
		t.Error("a key of somebody's own is known")
	}
	AcceptExamples()
	if Published(nova) != "" || Published(zeros) == "" {
		t.Errorf("accepting examples: example %q, seed of zeros %q", Published(nova), Published(zeros))
	}
}

// The list holds each key of the recorded bundles.
func TestExamplesComplete(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/bundles/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	known := strings.Fields(strings.Join(examples, " "))
	names := regexp.MustCompile(`\b(?:listing|publish|key|by): (\w+)`)
	for _, file := range files {
		text := must.Read(t, file)
		for _, name := range names.FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(known, name[1]) {
				t.Errorf("%s: add the name %s", file, name[1])
			}
		}
	}
}
