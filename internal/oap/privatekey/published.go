package privatekey

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"
	"sync/atomic"
)

// published are the secrets that RFCs print, seeds, private numbers and exponents, and trivial seeds, with where they
// are: by their SHA-256, then by the public half of each Ed25519 key, in hex. Everyone has them, so they sign only
// examples.
var published = map[string]string{
	"644d50ab64864c20a12b3c4656d46b4a48f69ef7c47ecdc8415cd28316b22ef5": "RFC 8032 section 7.1 TEST 1, RFC 8037 A.1",
	"3d2d9682cdba529682a152f678e25c6c29847bf2588ca4e1b3023c1579f9958d": "RFC 8032 section 7.1 TEST 2",
	"d8eca0cca720d33bf6d9a3e8057053ff6a4d19a62a9874fa7f7004ea662fb2f9": "RFC 8032 section 7.1 TEST 3",
	"28024a74943422cca068bb8189df16977c0cd8b322fcdf9c782f59ab6c0aa7e9": "RFC 8032 section 7.1 TEST 1024",
	"918a483206abfc9207f58443b4403c208a687265175377ea43db32a0def92492": "RFC 8032 section 7.1 TEST SHA(abc), 7.3",
	"7a2e234a94e068cdcdd78be6ba80ef56c8fd23d14b01049bd32a2361886ebe28": "RFC 8032 section 7.2",
	"f5de17c253b6377b60c9f37062dd00851bec5db5f0c090883f9970a755150574": "RFC 8032 section 7.2, aBC",
	"8ed51c8438ac38066662578078917561f441fcdf0bc860e6b28a188aca12318b": "RFC 8410 section 10.3",
	"c9ccbbf12f7c2cf491d7fe3f2607e2c40d562bb5594475686ab8cea4a2a0fcf3": "RFC 7748 section 6.1, RFC 8037 A.6, Alice",
	"ff400cebff8dd00053fbedf73a69be2fa352e3093b085f484bb8be2485e2b7c1": "RFC 7748 section 6.1, RFC 8037 A.6, Bob",
	"b70385660302dca892f74cdb6d75f73fd85e7564306616e1910970462f7110f0": "RFC 6979 appendix A.2.5",
	"cfcef6cfb631f2a350b70a6ab72b20696f65f854aa3649a26b4cc1d2b0f5ce76": "RFC 7515 appendix A.3",
	"3bb8feda21e14c7702cb318369e49edfb43dffda7d0b928d3611f4db316fe436": "RFC 7515 appendix A.4",
	"43e4b74131385aec85e1f0764d6693ac5e7cc4977f998cc956e1241a818cfd1d": "RFC 7517 appendix A.2",
	"3f0d6c04e0ef9d85414aac6b640c2d2d82c1dba13bb373863a4beb456d3ee4d4": "RFC 7518 appendix C, Alice",
	"a5b182889c63ece3b3b0bd9b2b6b5885f5567fcf80a787d2579275ff026e3332": "RFC 7518 appendix C, Bob",
	"c4b46c04ad74653908affe98530317dfe589d6df97e26f25c955c8da2c891ea2": "RFC 7515 appendix A.2",
	"687702628fda6f7382642c9adb52f0b919432fc7e38de1e925601f496abc2dbe": "RFC 7517 appendix A.2",
	"66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925": "a seed of 32 bytes 0x00",
	"72cd6e8422c407fb6d098690f1130b7ded7ec2f7f5e1d30bd9d521f015363793": "a seed of 32 bytes 0x01",
	"af9613760f72635fbdb44a5a0a63c39f12af30f950a6ee5c971be188e89c4051": "a seed of 32 bytes 0xff",
	"ec4916dd28fc4c10d78e287ca5d9cc51ee1ae73cbfde08c6b37324cbfaac8bc5": "the number one as a seed",
	"01d0fabd251fcbbe2b93b4b927b26ad2a1a99077152e45ded1e678afa45dbec5": "the number one as a seed, little-endian",

	"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a": "RFC 8032 section 7.1 and RFC 8037 appendix A",
	"3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c": "RFC 8032 section 7.1",
	"fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025": "RFC 8032 section 7.1",
	"278117fc144c72340f67d0f2316e8386ceffbf2b2428c9c51fef7c597f1d426e": "RFC 8032 section 7.1",
	"ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf": "RFC 8032 section 7.1",
	"dfc9425e4f968f7f0c29f0259cf5f9aed6851c2bb4ad8bfb860cfee0ab248292": "RFC 8032 section 7.2",
	"0f1d1274943b91415889152e893d80e93275a1fc0b65fd71b4b0dda10ad7d772": "RFC 8032 section 7.2",
	"19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1": "RFC 8410 section 10.3",
	"3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29": "a seed of 32 bytes 0x00",
	"8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c": "a seed of 32 bytes 0x01",
	"76a1592044a6e4f511265bca73a604d90b0529d1df602be30a19a9257660d1f5": "a seed of 32 bytes 0xff",
	"4cb5abf6ad79fbf5abbccafcc269d85cd2651ed4b885b5869f241aedf0a5ba29": "the number one as a seed",
	"cecc1507dc1ddd7295951c290888f095adb9044d1b73d696e6df065d683bd4fc": "the number one as a seed",
}

// examples are the names of the keys of the program's own tests: the seed of each is the SHA-256 of
// its name.
var examples = []string{
	"ada adaa agent alpha ann aurora b1 b2 bea big bob cal cat cleo",
	"cora cy cyd dan dee dora dot down early else ema eva eve evil",
	"faye fay fox gil gone gus hal ida ina joe kay key kev kin",
	"late lone low mallory mate meridian mia moe mute nola nova nova1 nova2 nova3",
	"nova4 nova5 nova6 odd old older once one orion other plain pro sirius sly",
	"slow soon spare stella stranger supernova teredo three tool twin two unique vega withdrawn",
	"young zero zoe",
}

// ofExamples are the public halves of the examples, in hex, and the SHA-256 of their seeds.
var ofExamples = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for name := range strings.FieldsSeq(strings.Join(examples, " ")) {
		seed := sha256.Sum256([]byte(name))
		secret := sha256.Sum256(seed[:])
		all[hex.EncodeToString(secret[:])] = true
		all[hex.EncodeToString(ed25519.NewKeyFromSeed(seed[:])[ed25519.SeedSize:])] = true
	}
	return all
})

var acceptsExamples atomic.Bool

// AcceptExamples lets this process use the keys of the program's own examples. Only tests
// call it: no flag, variable or file does.
func AcceptExamples() { acceptsExamples.Store(true) }

// Published returns where everyone finds the private half of a public Ed25519 key in hex, or "" if the key is not known
// to be published.
func Published(public string) string {
	if where := published[public]; where != "" || acceptsExamples.Load() || !ofExamples()[public] {
		return where
	}
	return "the examples of oap-gate"
}
