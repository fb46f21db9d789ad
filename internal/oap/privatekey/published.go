package privatekey

// published are the SHA-256 of the secrets that RFCs print: seeds, private numbers and exponents. Everyone has them, so
// they sign only examples.
var published = map[string]bool{
	// RFC 8032 section 7.1 TEST 1, RFC 8037 appendix A.1
	"644d50ab64864c20a12b3c4656d46b4a48f69ef7c47ecdc8415cd28316b22ef5": true,
	// RFC 8032 section 7.1 TEST 2
	"3d2d9682cdba529682a152f678e25c6c29847bf2588ca4e1b3023c1579f9958d": true,
	// RFC 8032 section 7.1 TEST 3
	"d8eca0cca720d33bf6d9a3e8057053ff6a4d19a62a9874fa7f7004ea662fb2f9": true,
	// RFC 8032 section 7.1 TEST 1024
	"28024a74943422cca068bb8189df16977c0cd8b322fcdf9c782f59ab6c0aa7e9": true,
	// RFC 8032 section 7.1 TEST SHA(abc), section 7.3
	"918a483206abfc9207f58443b4403c208a687265175377ea43db32a0def92492": true,
	// RFC 8032 section 7.2
	"7a2e234a94e068cdcdd78be6ba80ef56c8fd23d14b01049bd32a2361886ebe28": true,
	// RFC 8032 section 7.2, aBC
	"f5de17c253b6377b60c9f37062dd00851bec5db5f0c090883f9970a755150574": true,
	// RFC 8410 section 10.3
	"8ed51c8438ac38066662578078917561f441fcdf0bc860e6b28a188aca12318b": true,
	// RFC 7748 section 6.1 and RFC 8037 appendix A.6, Alice
	"c9ccbbf12f7c2cf491d7fe3f2607e2c40d562bb5594475686ab8cea4a2a0fcf3": true,
	// RFC 7748 section 6.1 and RFC 8037 appendix A.6, Bob
	"ff400cebff8dd00053fbedf73a69be2fa352e3093b085f484bb8be2485e2b7c1": true,
	// RFC 6979 appendix A.2.5
	"b70385660302dca892f74cdb6d75f73fd85e7564306616e1910970462f7110f0": true,
	// RFC 7515 appendix A.3
	"cfcef6cfb631f2a350b70a6ab72b20696f65f854aa3649a26b4cc1d2b0f5ce76": true,
	// RFC 7515 appendix A.4
	"3bb8feda21e14c7702cb318369e49edfb43dffda7d0b928d3611f4db316fe436": true,
	// RFC 7517 appendix A.2
	"43e4b74131385aec85e1f0764d6693ac5e7cc4977f998cc956e1241a818cfd1d": true,
	// RFC 7518 appendix C, Alice
	"3f0d6c04e0ef9d85414aac6b640c2d2d82c1dba13bb373863a4beb456d3ee4d4": true,
	// RFC 7518 appendix C, Bob
	"a5b182889c63ece3b3b0bd9b2b6b5885f5567fcf80a787d2579275ff026e3332": true,
	// RFC 7515 appendix A.2
	"c4b46c04ad74653908affe98530317dfe589d6df97e26f25c955c8da2c891ea2": true,
	// RFC 7517 appendix A.2
	"687702628fda6f7382642c9adb52f0b919432fc7e38de1e925601f496abc2dbe": true,
}
